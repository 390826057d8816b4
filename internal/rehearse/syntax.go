package rehearse

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/message"
)

// SyntaxError says what is wrong with a script, and where.
type SyntaxError struct {
	Script string
	Offset int // in bytes
	Reason string
}

func (e *SyntaxError) Error() string {
	line, column, _ := e.place()
	if !strings.Contains(strings.TrimRight(e.Script, "\n"), "\n") {
		return message.ScriptAt(0, column, e.Reason)
	}
	return message.ScriptAt(line, column, e.Reason)
}

// Caret is the line of the script with a mark under the place.
func (e *SyntaxError) Caret() string {
	_, column, text := e.place()
	// A tab is as wide under the line as in it.
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, string([]rune(text)[:column-1]))
	return text + "\n" + pad + "^"
}

// place returns line and column, in characters from 1, and the text of the line.
func (e *SyntaxError) place() (line, column int, text string) {
	offset := min(max(e.Offset, 0), len(e.Script))
	before := e.Script[:offset]
	begin := strings.LastIndexByte(before, '\n') + 1
	text, _, _ = strings.Cut(e.Script[begin:], "\n")
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[begin:]) + 1, strings.TrimSuffix(text, "\r")
}

// scanner walks over a script.
type scanner struct {
	text string
	at   int
	ofAt int // where the faults of a mix stand
}

func (s *scanner) errorAt(offset int, reason string) error {
	return &SyntaxError{Script: s.text, Offset: offset, Reason: reason}
}

func (s *scanner) error(reason string) error { return s.errorAt(s.at, reason) }

func (s *scanner) done() bool { return s.at >= len(s.text) }

// peek is the next byte; 0 at the end.
func (s *scanner) peek() byte {
	if s.done() {
		return 0
	}
	return s.text[s.at]
}

// take consumes the byte if it is next.
func (s *scanner) take(b byte) bool {
	if s.done() || s.text[s.at] != b {
		return false
	}
	s.at++
	return true
}

// span consumes bytes while they are of a kind.
func (s *scanner) span(of func(byte) bool) string {
	begin := s.at
	for !s.done() && of(s.text[s.at]) {
		s.at++
	}
	return s.text[begin:s.at]
}

// blanks skips spaces; with lines, also newlines. Comments go to the end of their line.
func (s *scanner) blanks(lines bool) {
	for !s.done() {
		switch c := s.text[s.at]; {
		case c == ' ' || c == '\t' || c == '\r', lines && c == '\n':
			s.at++
		case c == '#':
			s.span(func(b byte) bool { return b != '\n' })
		default:
			return
		}
	}
}

// next says what stands here, for an error message.
func (s *scanner) next() string {
	if s.done() {
		return "the end"
	}
	r, _ := utf8.DecodeRuneInString(s.text[s.at:])
	return fmt.Sprintf("%q", r)
}

// quoted reads a text in double quotes, with \n, \t, \r, \" and \\ in it, or in back quotes, as it stands.
func (s *scanner) quoted() (string, error) {
	begin := s.at
	quote := s.text[s.at]
	s.at++
	var b strings.Builder
	for !s.done() {
		c := s.text[s.at]
		s.at++
		switch {
		case c == quote:
			return b.String(), nil
		case c == '\\' && quote == '"':
			const letters, means = `ntr"\`, "\n\t\r\"\\"
			i := strings.IndexByte(letters, s.peek())
			if s.done() || i < 0 {
				return "", s.errorAt(s.at-1, `a backslash must be followed by n, t, r, " or another backslash`)
			}
			b.WriteByte(means[i])
			s.at++
		default:
			b.WriteByte(c)
		}
	}
	return "", s.errorAt(begin, message.NotClosed("quotes"))
}

func isWord(b byte) bool {
	return b == '-' || b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
