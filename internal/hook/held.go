package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxHeld is how much a decision can be. Clients cut text long before that.
const maxHeld = 64 << 20

var errTooMuch = errors.New("more than 64 MiB")

// held keeps what the command prints until it is known whether that is a decision.
type held struct {
	live io.Writer // where it goes then

	memory          bytes.Buffer
	err             error // it cannot be held; the rest is thrown away, so that the command can go on
	announceChecked bool  // it was searched for the announcement below
	passing         bool  // it has told the client not to wait: what else it prints goes straight on
}

// Write implements [io.Writer]. It never fails, or the command would get SIGPIPE.
func (h *held) Write(p []byte) (int, error) {
	switch {
	case h.passing:
		h.pass(p)
		return len(p), nil
	case h.err != nil:
	case h.memory.Len()+len(p) > maxHeld:
		h.memory, h.err = bytes.Buffer{}, errTooMuch
	default:
		h.memory.Write(p)
	}
	if !h.announceChecked && bytes.IndexByte(p, '}') >= 0 {
		h.announceChecked = true
		if h.err == nil && announcesAsync(h.memory.Bytes()) {
			h.passing = true
			h.pass(h.memory.Bytes())
		}
	}
	return len(p), nil
}

func (h *held) pass(p []byte) {
	if h.live != nil && h.err == nil {
		_, h.err = h.live.Write(p)
	}
}

// check reports whether it is a decision.
func (h *held) check() error {
	if h.passing {
		return nil
	}
	return checkDecision(h.memory.Bytes())
}

// isObject reports whether it is a whole JSON object.
func (h *held) isObject() bool {
	return isObject(h.memory.Bytes()) && json.Valid(trimLeft(h.memory.Bytes()))
}

// deliver passes on what was held.
func (h *held) deliver() error {
	if !h.passing && h.memory.Len() > 0 {
		h.pass(h.memory.Bytes())
	}
	return h.err
}

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
