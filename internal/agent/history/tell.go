package history

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/redact"
)

// Entry is a part of a record.
type Entry struct {
	At   time.Time `json:"time,omitzero"`
	Who  string    `json:"who"`
	Kind Kind      `json:"kind"`
	Tool string    `json:"tool,omitempty"`
	Text string    `json:"text,omitempty"`
	// Input and Output are the tokens of the request that it was answered with.
	Input   int64    `json:"input_tokens,omitempty"`
	Output  int64    `json:"output_tokens,omitempty"`
	CostUSD *float64 `json:"total_cost_usd,omitempty"`

	raw json.RawMessage
}

// maxShown is how much of a part is shown, in bytes.
const maxShown = 2000

// Last are the last n entries of a record, or all if n is 0, and how many there are before. They are for people: without secrets, and without what would change a terminal.
func Last(format *Format, path string, prices *price.Table, n int) (last []Entry, before int, err error) {
	err = tell(format, path, prices, func(e Entry) {
		if n > 0 && len(last) >= n {
			last, before = last[1:], before+1
		}
		last = append(last, e)
	})
	for i := range last {
		e := &last[i]
		e.Tool, e.Text = printable.Line(e.Tool), clip(redact.Text(printable.Text(e.said(2*maxShown))), maxShown)
	}
	return last, before, err
}

// tell tells of each part of a record, in order.
func tell(format *Format, path string, prices *price.Table, told func(Entry)) error {
	model := ""
	return each(path, func(_ int, text []byte) error {
		l, _ := format.Read(text)
		switch {
		case l.Refused != "":
			l.Role, l.Parts = "service", []Part{{Kind: "refused", Text: JSON(l.Refused)}}
		case len(l.Parts) == 0 && l.Used != nil:
			l.Role, l.Parts = "service", []Part{{Kind: "usage"}}
		}
		model = cmp.Or(l.Model, model)
		for i, p := range l.Parts {
			e := Entry{At: l.At, Who: l.Role, Kind: p.Kind, Tool: p.Name, raw: p.Text}
			if p.Kind == Result {
				e.Who = "tool"
			}
			if u := l.Used; u != nil && i == len(l.Parts)-1 {
				e.Input, e.Output = sent(u), u.Output
				if usd, ok := prices.Cost(model, l.At, *u); ok {
					e.CostUSD = &usd
				}
			}
			told(e)
		}
		return nil
	})
}

// said is how a text begins: that of a string, of blocks of text, else the JSON as it is.
func (e *Entry) said(most int) string {
	var text string
	var blocks []struct{ Text string }
	switch {
	case json.Unmarshal(e.raw, &text) == nil:
	case json.Unmarshal(e.raw, &blocks) == nil:
		for _, b := range blocks {
			text += b.Text + "\n"
		}
	default:
		text = string(e.raw)
	}
	return clip(text, most)
}

// clip is the begin of a text, with a mark if that is not all.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return printable.Prefix(text, most) + "…"
}
