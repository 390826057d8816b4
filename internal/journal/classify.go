package journal

import (
	"encoding/json"

	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/verdict"
)

// Classification says what kind of failure something is, for the program that reports or handles it.
type Classification struct {
	Type        verdict.Class `json:"type"`
	Message     string        `json:"message"`
	IsRetryable bool          `json:"is_retryable"`
	Category    string        `json:"category"`
	Severity    string        `json:"severity"`
}

// What category and severity can be.
const (
	Connection = "connection" // the service was not reached, or did not answer
	SDK        = "sdk"        // the CLI says what is wrong
	Other      = "unknown"

	Warning     = "warning" // worth repeating
	SevereError = "error"
)

// Classify says what kind of failure a class is.
func Classify(class verdict.Class, message string) Classification {
	c := Classification{Type: class, Message: message, Category: SDK}.Judged(class.Retryable())
	switch class {
	case verdict.Network, verdict.Timeout:
		c.Category = Connection
	case verdict.Unknown, verdict.Crash, verdict.Stalled, verdict.ToolMissing, verdict.Interrupted, verdict.BreakerOpen, "":
		c.Category = Other // the cause is not known
	}
	return c
}

// Judged is c with a verdict's own word on whether it is worth repeating. It may differ from that of the class: a deadline
// that the user has set is a timeout, and is not.
func (c Classification) Judged(retryable bool) Classification {
	c.IsRetryable, c.Severity = retryable, SevereError
	if retryable {
		c.Severity = Warning
	}
	return c
}

// shorten halves every long text; nil if there is none that could be.
func shorten(data json.RawMessage) json.RawMessage {
	changed := false
	short := eachText(data, func(s string) string {
		if len(s) <= 64 {
			return s
		}
		changed = true
		return cut(s, len(s)/2)
	})
	if !changed {
		return nil
	}
	return short
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
