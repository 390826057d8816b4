package clientfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/message"
)

// scanner reads JSON. Comments are skipped, and where the first one stands is kept: the clients refuse files that have some.
type scanner struct {
	text    []byte
	at      int
	depth   int
	comment int // offset of the first one; -1 if there is none
	// trailingCommas says that a comma may stand behind the last part of an object or list.
	trailingCommas bool
}

// maxDepth keeps a malicious file from using up the stack.
const maxDepth = 1000

// parseJSON reads a whole file. comment is where the first comment stands; -1 if there is none.
func parseJSON(text []byte, trailingCommas bool) (root *node, comment int, err error) {
	s := &scanner{text: text, comment: -1, trailingCommas: trailingCommas}
	if bytes.HasPrefix(text, []byte("\uFEFF")) {
		s.at = len("\uFEFF")
	}
	if root, err = s.value(); err != nil {
		return root, s.comment, err
	}
	if err := s.blanks(); err != nil {
		return root, s.comment, err
	}
	if s.at < len(text) {
		return root, s.comment, s.errorAt(s.at, fmt.Sprintf("unexpected %s after the end", s.next()))
	}
	return root, s.comment, nil
}

func (s *scanner) errorAt(offset int, what string) error {
	return wrong(s.text, offset, what)
}

// next says what stands here, for an error message.
func (s *scanner) next() string {
	if s.at >= len(s.text) {
		return "the end of the file"
	}
	r, _ := utf8.DecodeRune(s.text[s.at:])
	return strconv.QuoteRune(r)
}

func (s *scanner) peek() byte {
	if s.at >= len(s.text) {
		return 0
	}
	return s.text[s.at]
}

func (s *scanner) take(b byte) bool {
	if s.at >= len(s.text) || s.text[s.at] != b {
		return false
	}
	s.at++
	return true
}

// blanks skips white space and comments.
func (s *scanner) blanks() error {
	for s.at < len(s.text) {
		switch rest := s.text[s.at:]; {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\n':
			s.at++
		case bytes.HasPrefix(rest, []byte("//")), bytes.HasPrefix(rest, []byte("/*")):
			if s.comment < 0 {
				s.comment = s.at
			}
			end, size := bytes.IndexByte(rest, '\n'), 1
			if rest[1] == '*' {
				end, size = bytes.Index(rest[2:], []byte("*/")), 2
				if end < 0 {
					return s.errorAt(s.at, message.Unterminated("comment"))
				}
				end += 2
			}
			if end < 0 {
				end, size = len(rest), 0
			}
			s.at += end + size
		default:
			return nil
		}
	}
	return nil
}

func (s *scanner) value() (*node, error) {
	if err := s.blanks(); err != nil {
		return nil, err
	}
	if s.depth++; s.depth > maxDepth {
		return nil, s.errorAt(s.at, "nested too deeply")
	}
	defer func() { s.depth-- }()
	v := &node{from: s.at}
	var err error
	switch c := s.peek(); c {
	case kindObject:
		v.kind, err = c, s.object(v)
	case kindList:
		v.kind, err = c, s.array(v)
	case kindText:
		v.kind = c
		v.text, err = s.str()
	default:
		v.text, err = s.word()
	}
	v.to = s.at
	return v, err
}

func (s *scanner) object(v *node) error {
	s.at++
	for first := true; ; first = false {
		if err := s.blanks(); err != nil {
			return err
		}
		if first && s.take('}') {
			return nil
		}
		if s.peek() != '"' {
			return s.errorAt(s.at, message.Expected(message.AKey, s.next()))
		}
		m := member{from: s.at}
		var err error
		if m.key, err = s.str(); err != nil {
			return err
		}
		m.keyFrom, m.keyTo = m.from, s.at
		if err := s.blanks(); err != nil {
			return err
		}
		if !s.take(':') {
			return s.errorAt(s.at, message.Expected(message.AColon, s.next()))
		}
		if m.value, err = s.value(); err != nil {
			return err
		}
		v.members = append(v.members, m)
		if more, err := s.more('}'); !more {
			return err
		}
	}
}

func (s *scanner) array(v *node) error {
	s.at++
	for first := true; ; first = false {
		if err := s.blanks(); err != nil {
			return err
		}
		if first && s.take(']') {
			return nil
		}
		item, err := s.value()
		if err != nil {
			return err
		}
		v.items = append(v.items, item)
		if more, err := s.more(']'); !more {
			return err
		}
	}
}

// more reads what stands between the parts of an object or array, or its end.
func (s *scanner) more(end byte) (bool, error) {
	if err := s.blanks(); err != nil {
		return false, err
	}
	switch {
	case s.take(','):
		if !s.trailingCommas {
			return true, nil
		}
		err := s.blanks()
		return err == nil && !s.take(end), err
	case s.take(end):
		return false, nil
	}
	return false, s.errorAt(s.at, message.Expected(fmt.Sprintf("a comma or %q", end), s.next()))
}

// str reads a string and returns what it says.
func (s *scanner) str() (string, error) {
	begin := s.at
	s.at++
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return meaning(units(s.text[begin:s.at])), nil
		case c < ' ':
			return "", s.errorAt(s.at, fmt.Sprintf("a string must not contain an unescaped %s", s.next()))
		case c == '\\':
			_, size, ok := escape(s.text[s.at:])
			if !ok {
				return "", s.errorAt(s.at, "invalid escape")
			}
			s.at += size
		default:
			s.at++
		}
	}
	return "", s.errorAt(begin, message.Unterminated("string"))
}

// word reads a number or true, false, null, and returns it as it is written.
func (s *scanner) word() (string, error) {
	begin := s.at
	for s.at < len(s.text) && bytes.IndexByte([]byte("+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"), s.text[s.at]) >= 0 {
		s.at++
	}
	word := string(s.text[begin:s.at])
	switch {
	case word == "":
		return "", s.errorAt(begin, message.Expected(message.AValue, s.next()))
	case !json.Valid([]byte(word)):
		return "", s.errorAt(begin, fmt.Sprintf("%q is not valid JSON", word))
	}
	return word, nil
}
