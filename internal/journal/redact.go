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
		e.Detail = eachText(e.Detail, redact.Text)
	}
}

// redact takes credentials out of every text of the entry.
func (e *Entry) redact(secrets *redact.Known) {
	for f := range e.fields() {
		switch v := f.value.(type) {
		case *string:
			*v = redactText(secrets, f.name, *v)
		case *json.RawMessage:
			if text := string(*v); f.name == "detail" || text != "" && secrets.Text(text) != text { // of usage nearly all is numbers
				*v = eachText(*v, secrets.Text)
			}
		case *map[string]string:
			*v = label.RedactedTags(*v)
		case *[]Tool:
			*v = slices.Clone(*v)
			for i := range *v {
				(*v)[i].Name = redact.Text((*v)[i].Name)
			}
		case *[]ToolCall:
			*v = slices.Clone(*v)
			for i := range *v {
				(*v)[i].Name = redact.Text((*v)[i].Name)
			}
		}
	}
}

// redactText takes credentials out of the text of a field.
func redactText(secrets *redact.Known, name, text string) string {
	switch name {
	case "invocation", "prompt_hash", "status", "error_type", "signal", "parent", "traceparent", "kind":
		return text // Belay has made it, or has checked its form
	case "error":
		return secrets.Text(text)
	case "session_id", "gate", "model", "model_asked":
		return redact.ID(text)
	}
	return redact.Text(text) // a name that the caller or a command has given to something
}

// Redacted is a line of a log for other machines: without the credentials that another version may have left in it, and without a prompt, which is kept for this
// machine alone. Nearly always it is the line itself.
func Redacted(line []byte) []byte {
	whole := bytes.HasPrefix(line, lineStart) && bytes.HasSuffix(line, []byte("}\n"))
	if whole && !bytes.Contains(line, []byte(`"error":`)) && !bytes.Contains(line, []byte(`"detail":`)) && !bytes.Contains(line, []byte(`"prompt":`)) {
		return line // what is left are names
	}
	l := Parse(line)
	if l.Entry == nil {
		return []byte(redact.Text(string(line)))
	}
	clean := *l.Entry
	clean.Prompt = ""
	if clean.Redact(); clean.Prompt == l.Entry.Prompt && clean.Error == l.Entry.Error && bytes.Equal(clean.Detail, l.Entry.Detail) {
		return line
	}
	return encode(clean, nil, false)
}

// eachText changes every text in a piece of JSON: on the JSON itself, a pattern could match a quote. It is nil if it is no JSON.
func eachText(data json.RawMessage, change func(string) string) json.RawMessage {
	var v any
	if len(data) == 0 || json.Unmarshal(data, &v) != nil {
		return nil
	}
	out, err := json.Marshal(mapText(v, change))
	if err != nil {
		return nil
	}
	return out
}

func mapText(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			v[i] = mapText(v[i], change)
		}
	case map[string]any:
		for key, value := range v {
			text, ok := value.(string)
			if value = mapText(value, change); ok && text != "" && redact.NamesSecret(key) {
				value = redact.Marker
			}
			v[key] = value
			if clean := redact.Text(key); clean != key {
				delete(v, key)
				v[clean] = value
			}
		}
	}
	return v
}
