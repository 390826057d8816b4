package wire

import "bytes"

// Splitter cuts a stream into messages. A line that comes in one piece is not copied; one that comes in many is copied
// once, as it comes.
type Splitter struct {
	Max  int // bytes of a line; what is longer is scanned and dropped
	Take func(*Message)

	scan  scanner
	parts [][]byte
	size  int
	one   [1][]byte
	msg   Message
}

// piece is how much room is made at least for a line that comes in many pieces.
const piece = 4 << 10

// Write takes the next bytes of the stream.
func (s *Splitter) Write(b []byte) (int, error) {
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
		if s.size == 0 && len(line) <= s.Max {
			s.one[0] = line
			s.emit(s.one[:], len(line))
			continue
		}
		s.hold(line)
		s.emit(s.parts, s.size)
	}
	return n, nil
}

// Flush takes what is left at the end of the stream as a line.
func (s *Splitter) Flush() {
	if s.size > 0 {
		s.emit(s.parts, s.size)
	}
}

func (s *Splitter) hold(b []byte) {
	if s.size += len(b); s.size > s.Max {
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

func (s *Splitter) emit(parts [][]byte, size int) {
	s.msg = Message{Parts: parts, Size: size, Envelope: s.scan.end(), TooLarge: size > s.Max}
	s.scan.reset()
	s.parts, s.size = nil, 0
	s.Take(&s.msg)
}
