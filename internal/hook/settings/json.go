package settings

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// value is a piece of JSON and where it stands. Nothing is decoded: what is not changed must stay as it is to the byte.
type value struct {
	kind       byte // '{', '[', '"', or the first byte of a number or a word
	start, end int
	members    []member // of an object
	items      []value  // of an array
}

type member struct{ key, value value }

// SyntaxError says what is wrong with a file, and where.
type SyntaxError struct {
	Line, Column int // from 1; the column in characters
	Reason       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// place returns line and column of an offset.
func place(text []byte, offset int) (line, column int) {
	before := text[:min(offset, len(text))]
	begin := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[begin:]) + 1
}

// scanner reads JSON. Comments are skipped, and where the first one stands is kept: the clients do not like them.
type scanner struct {
	text    []byte
	at      int
	depth   int
	comment int // offset of the first one; -1 if there is none
}

// maxDepth keeps a malicious file from using up the stack.
const maxDepth = 1000

// parse reads a whole file.
func parse(text []byte) (root value, comment int, err error) {
	s := &scanner{text: text, comment: -1}
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
		return root, s.comment, s.errorf(s.at, "%s after the end", s.next())
	}
	return root, s.comment, nil
}

func (s *scanner) errorf(offset int, format string, args ...any) error {
	line, column := place(s.text, offset)
	return &SyntaxError{line, column, fmt.Sprintf(format, args...)}
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
					return s.errorf(s.at, "a comment without an end")
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

func (s *scanner) value() (v value, err error) {
	if err := s.blanks(); err != nil {
		return v, err
	}
	if s.depth++; s.depth > maxDepth {
		return v, s.errorf(s.at, "nested too deeply")
	}
	defer func() { s.depth-- }()
	v.kind, v.start = s.peek(), s.at
	switch c := s.peek(); {
	case c == '{':
		err = s.object(&v)
	case c == '[':
		err = s.array(&v)
	case c == '"':
		err = s.str()
	default:
		err = s.word()
	}
	v.end = s.at
	return v, err
}

func (s *scanner) object(v *value) error {
	s.at++
	for first := true; ; first = false {
		if err := s.blanks(); err != nil {
			return err
		}
		if first && s.take('}') {
			return nil
		}
		if s.peek() != '"' {
			return s.errorf(s.at, "a key in double quotes should stand here, not %s", s.next())
		}
		key := value{kind: '"', start: s.at}
		if err := s.str(); err != nil {
			return err
		}
		key.end = s.at
		if err := s.blanks(); err != nil {
			return err
		}
		if !s.take(':') {
			return s.errorf(s.at, "a colon should stand here, not %s", s.next())
		}
		item, err := s.value()
		if err != nil {
			return err
		}
		v.members = append(v.members, member{key, item})
		if more, err := s.more('}'); !more {
			return err
		}
	}
}

func (s *scanner) array(v *value) error {
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
		return true, nil
	case s.take(end):
		return false, nil
	}
	return false, s.errorf(s.at, "a comma or %q should stand here, not %s", end, s.next())
}

// str reads a string with its quotes.
func (s *scanner) str() error {
	begin := s.at
	s.at++
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return nil
		case c < ' ':
			return s.errorf(s.at, "a string must not contain %s as it is", s.next())
		case c == '\\':
			_, size, ok := escape(s.text[s.at:])
			if !ok {
				return s.errorf(s.at, "there is no such escape")
			}
			s.at += size
		default:
			s.at++
		}
	}
	return s.errorf(begin, "a string without an end")
}

// word reads a number or true, false, null.
func (s *scanner) word() error {
	begin := s.at
	for s.at < len(s.text) && bytes.IndexByte([]byte("+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"), s.text[s.at]) >= 0 {
		s.at++
	}
	switch text := string(s.text[begin:s.at]); {
	case text == "true", text == "false", text == "null", isNumber(text):
		return nil
	case text == "":
		return s.errorf(begin, "a value should stand here, not %s", s.next())
	default:
		return s.errorf(begin, "%q is no JSON", text)
	}
}

// isNumber knows JSON's numbers from all the others that strconv takes.
func isNumber(text string) bool {
	digits := func(s string) (rest string, n int) {
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		return s[n:], n
	}
	if text != "" && text[0] == '-' {
		text = text[1:]
	}
	whole := text
	text, n := digits(text)
	if n == 0 || n > 1 && whole[0] == '0' {
		return false
	}
	if text != "" && text[0] == '.' {
		if text, n = digits(text[1:]); n == 0 {
			return false
		}
	}
	if text != "" && (text[0] == 'e' || text[0] == 'E') {
		if text = text[1:]; text != "" && (text[0] == '+' || text[0] == '-') {
			text = text[1:]
		}
		if text, n = digits(text); n == 0 {
			return false
		}
	}
	return text == ""
}
