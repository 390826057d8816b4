package agent

import (
	"bytes"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/printable"
)

// stringReader reads a string up to its closing quote, and keeps the beginning and the end of a long one.
type stringReader struct {
	out   []byte // the abridged line so far
	start int    // where the string begins in it
	from  int64  // where it begins in the line
	skip  bool   // it is left out

	escape      []byte // an escape that has not all come
	head        int    // where the beginning ends that is kept
	long        bool
	older, tail []byte // of a long one, the end
}

// write takes what belongs to the string and says how much that was, and whether the quote was part of it.
func (s *stringReader) write(p []byte) (n int, ended bool) {
	quote := -1 // the next one in p; found once for many escapes before it
	for n < len(p) {
		if len(s.escape) > 0 {
			s.escape = append(s.escape, p[n])
			n++
			if len(s.escape) == 6 || len(s.escape) == 2 && s.escape[1] != 'u' {
				s.keep(s.escape, false)
				s.escape = s.escape[:0]
			}
			continue
		}
		if quote < n {
			if quote = bytes.IndexByte(p[n:], '"') + n; quote < n {
				quote = len(p)
			}
		}
		rest := p[n:quote]
		if slash := bytes.IndexByte(rest, '\\'); slash >= 0 {
			s.keep(rest[:slash], true)
			s.escape = append(s.escape[:0], '\\')
			n += slash + 1
			continue
		}
		s.keep(rest, true)
		if n = quote; quote < len(p) {
			return n + 1, true
		}
	}
	return n, false
}

// keep keeps a piece of the string: an escape, or plain text, which can be split between characters.
func (s *stringReader) keep(piece []byte, plain bool) {
	switch {
	case s.skip || len(piece) == 0:
	case s.long:
		s.keepTail(piece, plain)
	default:
		if at := len(s.out) - s.start; at+len(piece) <= keptHead {
			s.head = len(s.out) + len(piece)
		} else if at < keptHead && plain {
			n := keptHead - at
			for n > 0 && !utf8.RuneStart(piece[n]) {
				n--
			}
			s.head = len(s.out) + n
		}
		s.out = append(s.out, piece...)
		if len(s.out)-s.start > maxString {
			s.long = true
			s.out = s.out[:s.start+printable.WholeRunes(s.out[s.start:max(s.head, s.start)])]
			if plain {
				s.keepTail(piece, true)
			}
		}
	}
}

func (s *stringReader) keepTail(piece []byte, plain bool) {
	if plain && len(piece) > keptTail {
		piece = piece[len(piece)-keptTail:]
		for len(piece) > 0 && !utf8.RuneStart(piece[0]) {
			piece = piece[1:]
		}
		s.older, s.tail = s.older[:0], s.tail[:0]
	}
	if len(s.tail)+len(piece) > keptTail {
		s.older, s.tail = s.tail, s.older[:0]
	}
	s.tail = append(s.tail, piece...)
}

// finish completes the abridged string, and reports whether it was cut.
func (s *stringReader) finish() bool {
	if s.long {
		end := append(s.older, s.tail...)
		for len(end) > 0 && !utf8.RuneStart(end[0]) {
			end = end[1:] // a character that came in two pieces
		}
		s.out = append(append(s.out, "…"...), end...)
	}
	return s.long
}
