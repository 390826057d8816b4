package history

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Entry is a part of a record, for people.
type Entry struct {
	Line  int            `json:"line"`
	At    time.Time      `json:"time,omitzero"`
	Who   string         `json:"who"`
	Kind  string         `json:"kind"`
	Tool  string         `json:"tool,omitempty"`
	Text  string         `json:"text,omitempty"`
	Model string         `json:"model,omitempty"`
	Usage *verdict.Usage `json:"usage,omitempty"`
}

var kindNames = map[Kind]string{Text: "text", Thinking: "thinking", Call: "call", Result: "result", Image: "image", Other: "other", Unknown: "unknown"}

// Tell tells of each part of a record, in order, up to so many bytes of each.
func Tell(format *Format, path string, most int, tell func(Entry)) error {
	_, err := each(path, func(n int, text []byte) error {
		l, ok := format.Read(text)
		if !ok {
			tell(Entry{Line: n + 1, Kind: "torn"})
			return nil
		}
		if l.Refused != "" {
			tell(Entry{Line: n + 1, At: l.At, Who: "service", Kind: "refused", Text: clip(l.Refused, most)})
		}
		for i, p := range l.Parts {
			e := Entry{Line: n + 1, At: l.At, Who: l.Role, Kind: kindNames[p.Kind], Tool: p.Name, Text: clip(said(p.Text), most)}
			if p.Kind == Result {
				e.Who = "tool"
			}
			if i == len(l.Parts)-1 {
				e.Model, e.Usage = l.Model, l.Usage
			}
			tell(e)
		}
		if len(l.Parts) == 0 && l.Usage != nil {
			tell(Entry{Line: n + 1, At: l.At, Who: "service", Kind: "usage", Usage: l.Usage})
		}
		return nil
	})
	return err
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
