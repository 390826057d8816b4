package wire

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Message is one line and its envelope. The parts are the line as it came, without its end; they may be borrowed from the
// reader's buffer, and are then valid only until the line has been handled.
type Message struct {
	Envelope
	Parts    [][]byte
	Size     int
	TooLarge bool // larger than is carried: the parts are gone
}

// Bytes is the line in one piece, as a copy.
func (m *Message) Bytes() []byte {
	line := make([]byte, 0, m.Size+1)
	for _, p := range m.Parts {
		line = append(line, p...)
	}
	return line
}

// AppendTo adds what stands there to text.
func (m *Message) AppendTo(text []byte, at Span) []byte {
	text = slices.Grow(text, at.To-at.From)
	for _, p := range m.Parts {
		if at.From < len(p) && at.To > 0 {
			text = append(text, p[max(at.From, 0):min(at.To, len(p))]...)
		}
		at.From, at.To = at.From-len(p), at.To-len(p)
	}
	return text
}

// Blank says that there is nothing in the line.
func (m *Message) Blank() bool {
	return m.Size < 64 && len(bytes.TrimSpace(m.Bytes())) == 0
}

// Splice is the line with something else in the place of at, without a copy of the rest.
func (m *Message) Splice(at Span, text []byte) [][]byte {
	parts := make([][]byte, 0, len(m.Parts)+2)
	off, done := 0, false
	for _, p := range m.Parts {
		from, to := max(at.From-off, 0), at.To-off
		off += len(p)
		if from >= len(p) || to <= 0 {
			parts = append(parts, p)
			continue
		}
		parts = append(parts, p[:from])
		if !done {
			parts, done = append(parts, text), true
		}
		parts = append(parts, p[min(to, len(p)):])
	}
	return parts
}

// Parse makes a message of a whole line.
func Parse(line []byte) Message {
	var s scanner
	s.feed(line)
	return Message{Parts: [][]byte{line}, Size: len(line), Envelope: s.end()}
}

// Split returns the elements of an array, each on one line as it stands there.
func (m *Message) Split() ([][]byte, bool) {
	var elements []json.RawMessage
	if json.Unmarshal(m.Bytes(), &elements) != nil {
		return nil, false
	}
	lines := make([][]byte, len(elements))
	for i, e := range elements {
		lines[i] = bytes.TrimSpace(e)
	}
	return lines, true
}
