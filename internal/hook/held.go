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
