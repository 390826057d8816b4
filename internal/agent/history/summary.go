package history

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/redact"
)

const (
	maxSummary = 24 << 10 // all of what a new session is told
	maxTold    = 4 << 10  // of one text
	maxCall    = 300      // of what a tool was called with
)

// handOver says at the begin what it is.
const handOver = "An earlier session worked on this and cannot be continued. This is what its record says; check what is there before you do anything again.\n\n"

// Summary is what a new session is told of one that cannot go on: what was asked, which tools were called with what, and the last words. It is bounded, and has no secrets.
func (r *Report) Summary() (string, error) {
	var asked, last string
	var done []string
	err := tell(r.format, r.Path, nil, func(e Entry) {
		switch {
		case e.Kind == Text && e.Who == "user" && asked == "":
			if text := e.said(maxTold); !strings.HasPrefix(text, "<") { // what a CLI adds by itself is marked so
				asked = text
			}
		case e.Kind == Text && e.Who == "assistant":
			last = e.said(maxTold)
		case e.Kind == Call:
			done = append(done, fmt.Sprintf("- %s %s", e.Tool, e.said(maxCall)))
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
	return redact.Text(strings.TrimSpace(b.String())), nil
}
