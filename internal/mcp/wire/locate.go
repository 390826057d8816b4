package wire

import (
	"bytes"
	"encoding/json"
)

// Locate finds the value at a path of object keys, and where it stands.
func Locate(data []byte, path ...string) (Span, bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	for _, want := range path {
		if t, err := dec.Token(); err != nil || t != json.Delim('{') {
			return Span{}, false
		}
		found := false
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return Span{}, false
			}
			if found = key == want; found {
				break
			}
			var skip json.RawMessage
			if dec.Decode(&skip) != nil {
				return Span{}, false
			}
		}
		if !found {
			return Span{}, false
		}
	}
	var value json.RawMessage
	if dec.Decode(&value) != nil {
		return Span{}, false
	}
	end := int(dec.InputOffset())
	return Span{end - len(value), end}, true
}

// FirstIn is the first byte that is not space inside an object, and whether that closes it.
func FirstIn(data []byte, object Span) (at int, empty bool) {
	at = object.From + 1
	for at < object.To && bytes.IndexByte([]byte(" \t\r\n"), data[at]) >= 0 {
		at++
	}
	return at, data[at] == '}'
}
