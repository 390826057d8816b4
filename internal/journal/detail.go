package journal

import (
	"encoding/json"

	"github.com/belay-run/belay/internal/redact"
)

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
