package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// errBroken: the client would take it for text, or for nothing, and the decision in it would be lost in silence.
var errBroken = errors.New("printed broken JSON")

// checkDecision reports whether the stdout of a command that ended well is something that clients take as it was meant:
// nothing, plain text, or JSON (one object; or several values one after the other, which clients take for text).
func checkDecision(out []byte) error {
	text := trimLeft(out)
	if !isObject(text) {
		return nil
	}
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var value json.RawMessage
		switch err := dec.Decode(&value); {
		case err == io.EOF:
			return nil
		case err != nil:
			return errBroken
		}
	}
}

// isObject reports whether text is meant to be a JSON object.
func isObject(text []byte) bool { return bytes.HasPrefix(trimLeft(text), []byte("{")) }

// trimLeft drops what clients drop before they look: white space and byte order marks.
func trimLeft(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n\v\f\u00a0\ufeff") }

// announcesAsync reports whether the command has said, in the first thing it printed, that it goes on in the background
// and the client need not wait. Claude Code looks for it in the same way: as soon as there is a closing brace.
func announcesAsync(text []byte) bool {
	var said struct {
		Async bool `json:"async"`
	}
	return isObject(text) && json.Unmarshal(trimLeft(text), &said) == nil && said.Async
}
