package mcp

import (
	"bytes"
	"encoding/json"
)

// locate finds the value at a path of object keys, and where it stands.
func locate(data []byte, path ...string) (span, bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	for _, want := range path {
		if t, err := dec.Token(); err != nil || t != json.Delim('{') {
			return span{}, false
		}
		found := false
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return span{}, false
			}
			if found = key == want; found {
				break
			}
			var skip json.RawMessage
			if dec.Decode(&skip) != nil {
				return span{}, false
			}
		}
		if !found {
			return span{}, false
		}
	}
	var value json.RawMessage
	if dec.Decode(&value) != nil {
		return span{}, false
	}
	end := int(dec.InputOffset())
	return span{end - len(value), end}, true
}

// firstIn is the first byte that is not space inside an object, and whether that closes it.
func firstIn(data []byte, object span) (at int, empty bool) {
	at = object.from + 1
	for at < object.to && bytes.IndexByte([]byte(" \t\r\n"), data[at]) >= 0 {
		at++
	}
	return at, data[at] == '}'
}
