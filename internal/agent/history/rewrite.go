package history

import (
	"bytes"
	"encoding/json"
)

// Rewrite is an object of JSON after a change to its fields; what is no object stays as it is.
func Rewrite(text []byte, change func(fields map[string]json.RawMessage)) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil || fields == nil {
		return bytes.Clone(text)
	}
	change(fields)
	return JSON(fields)
}

// JSON is a value as JSON, as a CLI would write it.
func JSON(value any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(value) != nil {
		return []byte("null") // of texts and what was JSON before
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
