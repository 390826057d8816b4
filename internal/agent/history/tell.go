package history

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/verdict"
)

// Entry is a part of a record.
type Entry struct {
	Line  int            `json:"line"`
	At    time.Time      `json:"time,omitzero"`
	Who   string         `json:"who"`
	Kind  Kind           `json:"kind"`
	Tool  string         `json:"tool,omitempty"`
	Text  string         `json:"text,omitempty"`
	Model string         `json:"model,omitempty"`
	Usage *verdict.Usage `json:"usage,omitempty"`
}

// Kinds of entries that are not those of parts.
const (
	torn    Kind = "torn"
	refused Kind = "refused"
	used    Kind = "usage"
)

// maxShown is how much of a part is shown, in bytes.
const maxShown = 2000

// Last are the last n entries of a record, or all if n is 0, and how many there are before. They are for people: without secrets, and without what would change a terminal.
func Last(format *Format, path string, prices *price.Table, n int) (last []Entry, before int, err error) {
	err = tell(format, path, prices, 2*maxShown, func(e Entry) {
		if n > 0 && len(last) >= n {
			last, before = last[1:], before+1
		}
		last = append(last, e)
	})
	for i := range last {
		e := &last[i]
		e.Tool, e.Text = printable.Line(e.Tool), clip(redact.Text(printable.Text(e.Text)), maxShown)
	}
	return last, before, err
}

// tell tells of each part of a record, in order, up to so many bytes of each.
func tell(format *Format, path string, prices *price.Table, most int, told func(Entry)) error {
	model := ""
	_, err := each(path, func(n int, text []byte) error {
		l, ok := format.Read(text)
		add := func(who string, kind Kind, tool, text string, usage *verdict.Usage) {
			told(Entry{n + 1, l.At, who, kind, tool, clip(text, most), l.Model, usage})
		}
		if !ok {
			add("", torn, "", "", nil)
		}
		if l.Refused != "" {
			add("service", refused, "", l.Refused, nil)
		}
		if l.Model != "" {
			model = l.Model
		}
		usage := usageOf(l, prices, model)
		for i, p := range l.Parts {
			who := l.Role
			if p.Kind == Result {
				who = "tool"
			}
			if i < len(l.Parts)-1 {
				add(who, p.Kind, p.Name, said(p.Text), nil)
			} else {
				add(who, p.Kind, p.Name, said(p.Text), usage)
			}
		}
		if len(l.Parts) == 0 && usage != nil {
			add("service", used, "", "", usage)
		}
		return nil
	})
	return err
}

// usageOf is what the request used that a line tells of, with what that cost; nil if it does not tell.
func usageOf(l Line, prices *price.Table, model string) *verdict.Usage {
	u := l.Used
	if u == nil {
		return nil
	}
	all := &verdict.Usage{InputTokens: u.Input, OutputTokens: u.Output, CacheReadInputTokens: u.CacheRead, CacheCreationInputTokens: u.CacheWrite + u.CacheWriteHour}
	if usd, ok := prices.Cost(model, l.At, *u); ok {
		all.CostUSD, all.Estimated = &usd, true
	}
	return all
}

// said is a text of a record: that of a string, of blocks of text, else the JSON as it is.
func said(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return string(raw)
	}
	texts := make([]string, 0, len(blocks))
	for _, b := range blocks {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n")
}

// clip is the begin of a text, with a mark if that is not all.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
