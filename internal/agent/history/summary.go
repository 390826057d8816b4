package history

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/price"
)

const (
	maxSummary = 24 << 10 // all of what a new session is told
	maxTold    = 4 << 10  // of one text
	maxCall    = 300      // of what a tool was called with
)

// handOver says at the begin what it is.
const handOver = "An earlier session worked on this and cannot be continued. This is what its record says; check what is there before you do anything again.\n\n"

// Summary is what a new session is told of one that cannot go on: what was asked, which tools were called with what, and the last words. It is bounded.
func Summary(format *Format, path string) (string, error) {
	var asked, last string
	var done []string
	err := Tell(format, path, maxTold, func(e Entry) {
		switch {
		case e.Kind == "text" && e.Who == "user" && !strings.HasPrefix(e.Text, "<"): // what a CLI adds by itself is marked so
			if asked == "" {
				asked = e.Text
			}
		case e.Kind == "text" && e.Who == "assistant":
			last = e.Text
		case e.Kind == "call":
			done = append(done, fmt.Sprintf("- %s %s", e.Tool, clip(e.Text, maxCall)))
		}
	})
	if err != nil {
		return "", err
	}
	left := maxSummary - len(asked) - len(last)
	first := len(done)
	for first > 0 && left > len(done[first-1]) {
		first--
		left -= len(done[first]) + 1
	}
	var b strings.Builder
	b.WriteString(handOver)
	part := func(heading, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s\n%s\n\n", heading, text)
		}
	}
	part("It was asked:", asked)
	if first > 0 {
		done[first] = fmt.Sprintf("(%d calls before these)\n%s", first, done[first])
	}
	part("Its tools were called with:", strings.Join(done[first:], "\n"))
	part("Its last words:", last)
	return strings.TrimSpace(b.String()), nil
}

// cacheLasts is how long services keep what they were sent, unless they are asked for more.
const cacheLasts = 5 * time.Minute

// Price is what it costs to send a history once more.
type Price struct {
	Tokens int64
	USD    *float64 // nil if there is no price for the model
	Cold   bool     // the service has forgotten it, so that all of it is paid for in full
}

// ResumePrice is what a resume of a session costs now, by the last request that its record tells of.
func ResumePrice(format *Format, path string, prices *price.Table, now time.Time) (p Price, err error) {
	var last time.Time
	model := ""
	_, err = each(path, func(_ int, text []byte) error {
		l, _ := format.Read(text)
		if l.Model != "" && l.Model[0] != '<' {
			model = l.Model
		}
		if u := l.Usage; u != nil {
			last, p.Tokens = l.At, u.InputTokens+u.OutputTokens
			if format.CacheApart {
				p.Tokens += u.CacheReadInputTokens + u.CacheCreationInputTokens
			}
		}
		return nil
	})
	if err != nil || p.Tokens == 0 {
		return p, err
	}
	p.Cold = now.Sub(last) > cacheLasts
	call := price.Call{CacheRead: p.Tokens}
	if p.Cold && format.CacheApart {
		call = price.Call{CacheWrite: p.Tokens}
	} else if p.Cold {
		call = price.Call{Input: p.Tokens}
	}
	if usd, ok := prices.Cost(model, now, call); ok {
		p.USD = &usd
	}
	return p, nil
}
