package mcp

import (
	"bytes"
	"slices"
	"strconv"
)

// message is one line and its envelope. The parts are the line as it came, without its end; they may be borrowed from the
// reader's buffer, and are then valid only until the line has been handled.
type message struct {
	parts [][]byte
	size  int
	env   envelope
	over  bool // larger than is carried: the parts are gone
}

// bytes is the line in one piece, as a copy.
func (m *message) bytes() []byte {
	line := make([]byte, 0, m.size+1)
	for _, p := range m.parts {
		line = append(line, p...)
	}
	return line
}

// appendTo adds what stands there to text.
func (m *message) appendTo(text []byte, at span) []byte {
	text = slices.Grow(text, at.to-at.from)
	for _, p := range m.parts {
		if at.from < len(p) && at.to > 0 {
			text = append(text, p[max(at.from, 0):min(at.to, len(p))]...)
		}
		at.from, at.to = at.from-len(p), at.to-len(p)
	}
	return text
}

// blank says that there is nothing in the line.
func (m *message) blank() bool {
	return m.size < 64 && len(bytes.TrimSpace(m.bytes())) == 0
}

// splice is the line with something else in the place of at, without a copy of the rest.
func (m *message) splice(at span, text []byte) [][]byte {
	parts := make([][]byte, 0, len(m.parts)+2)
	off, done := 0, false
	for _, p := range m.parts {
		from, to := max(at.from-off, 0), at.to-off
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

// parse makes a message of a whole line.
func parse(line []byte) message {
	var s scanner
	s.feed(line)
	return message{parts: [][]byte{line}, size: len(line), env: s.end()}
}

// splitter cuts a stream into messages. A line that comes in one piece is not copied; one that comes in many is copied
// once, as it comes.
type splitter struct {
	max  int // bytes of a line; what is longer is scanned and dropped
	take func(*message)

	scan  scanner
	parts [][]byte
	size  int
	one   [1][]byte
	msg   message
}

// piece is how much room is made at least for a line that comes in many pieces.
const piece = 4 << 10

// Write takes the next bytes of the stream.
func (s *splitter) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			s.scan.feed(b)
			s.hold(b)
			break
		}
		line := b[:end]
		b = b[end+1:]
		s.scan.feed(line)
		if s.size == 0 && len(line) <= s.max {
			s.one[0] = line
			s.emit(s.one[:], len(line))
			continue
		}
		s.hold(line)
		s.emit(s.parts, s.size)
	}
	return n, nil
}

// flush takes what is left at the end of the stream as a line.
func (s *splitter) flush() {
	if s.size > 0 {
		s.emit(s.parts, s.size)
	}
}

func (s *splitter) hold(b []byte) {
	if s.size += len(b); s.size > s.max {
		s.parts = nil
		return
	}
	if last := len(s.parts) - 1; last >= 0 && cap(s.parts[last])-len(s.parts[last]) >= len(b) {
		s.parts[last] = append(s.parts[last], b...)
		return
	}
	room := max(len(b), piece)
	if len(s.parts) > 0 {
		room = max(room, min(s.size, 1<<20)) // what has been long will be longer
	}
	s.parts = append(s.parts, append(make([]byte, 0, room), b...))
}

func (s *splitter) emit(parts [][]byte, size int) {
	s.msg = message{parts: parts, size: size, env: s.scan.end(), over: size > s.max}
	s.scan.reset()
	s.parts, s.size = nil, 0
	s.take(&s.msg)
}

// ownID is an id that we make.
func ownID(kind string, n int) string { return `"belay-` + kind + `-` + strconv.Itoa(n) + `"` }
