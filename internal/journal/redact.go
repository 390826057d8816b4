package journal

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/redact"
)

// Redact takes credentials out of an entry that another version may have written.
func (e *Entry) Redact() {
	if e.Error == "" && len(e.Detail) == 0 {
		return // what is left are names
	}
	e.Error = redact.Text(e.Error)
	if text := string(e.Detail); redact.Text(text) != text {
		e.Detail = redactJSON(e.Detail, redact.Text)
	}
}

// redact takes credentials out of every text of the entry.
func (e *Entry) redact(secrets *redact.Known) {
	e.each(&redactor{secrets})
}

// redactor redacts the texts of an entry.
type redactor struct{ secrets *redact.Known }

func (r *redactor) text(name string, s *string, _ bool) {
	switch name {
	case "invocation", "prompt_hash", "status", "error_type", "signal", "parent", "traceparent", "kind":
		// Belay has made it, or has checked its form.
	case "error":
		*s = r.secrets.Text(*s)
	case "session_id", "gate", "model":
		*s = redact.ID(*s)
	default: // a name that the caller or a command has given to something
		*s = redact.Text(*s)
	}
}

func (r *redactor) raw(name string, data *json.RawMessage) {
	if text := string(*data); name == "detail" || text != "" && r.secrets.Text(text) != text { // of usage nearly all is numbers
		*data = redactJSON(*data, r.secrets.Text)
	}
}

func (r *redactor) labels(_ string, tags *map[string]string) { *tags = label.RedactedTags(*tags) }

func (r *redactor) tools(_ string, list *[]Tool) {
	for i, tool := range *list {
		if name := redact.Text(tool.Name); name != tool.Name {
			*list = slices.Clone(*list)
			(*list)[i].Name = name
		}
	}
}

func (r *redactor) toolCalls(_ string, list *[]ToolCall) {
	for i, call := range *list {
		if name := redact.Text(call.Name); name != call.Name {
			*list = slices.Clone(*list)
			(*list)[i].Name = name
		}
	}
}

func (r *redactor) time(string, *Time, bool)       {}
func (r *redactor) integer(string, *int, bool)     {}
func (r *redactor) optional(string, **int)         {}
func (r *redactor) flag(string, **bool)            {}
func (r *redactor) seconds(string, *float64, bool) {}

// Redacted is a line of a log without the credentials that another version may have left in it. Nearly always it is the line itself.
func Redacted(line []byte) []byte {
	whole := bytes.HasPrefix(line, lineStart) && bytes.HasSuffix(line, []byte("}\n"))
	if whole && !bytes.Contains(line, []byte(`"error":`)) && !bytes.Contains(line, []byte(`"detail":`)) {
		return line // what is left are names
	}
	l := Parse(line)
	if l.Entry == nil {
		return []byte(redact.Text(string(line)))
	}
	clean := *l.Entry
	if clean.Redact(); clean.Error == l.Entry.Error && bytes.Equal(clean.Detail, l.Entry.Detail) {
		return line
	}
	return encode(clean, nil, false)
}
