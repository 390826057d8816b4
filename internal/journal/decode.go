package journal

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"
)

// decode reads a line that was written by [Log]. encoding/json takes several times as long, which is most of what it
// costs to read a log of a million lines. What is not plain is left to it (ok is false): a test and a fuzzer compare the
// two.
func decode(line []byte, e *Entry) (ok bool) {
	in := &scanner{rest: bytes.TrimRight(line, "\r\n")}
	if !in.skip('{') {
		return false
	}
	in.next()
	e.each(in)
	return in.ended && !in.strange
}

// scanner is what is left of a line. Of the fields that it is shown it takes those that stand there.
type scanner struct {
	rest    []byte
	key     []byte // of the next field
	ended   bool   // there is none any more
	strange bool   // something is not plain
}

// next reads the next key.
func (in *scanner) next() {
	key, ok := in.quoted()
	in.key, in.strange = key, in.strange || !ok || !in.skip(':')
}

// has reports whether the next field is that one.
func (in *scanner) has(name string) bool { return !in.ended && !in.strange && string(in.key) == name }

// took says whether the field's value was plain, and goes on to the next field.
func (in *scanner) took(ok bool) {
	switch {
	case !ok:
		in.strange = true
	case in.skip(','):
		in.next()
	case in.skip('}') && len(in.rest) == 0:
		in.ended = true
	default:
		in.strange = true
	}
}

func (in *scanner) text(name string, s *string, _ bool) {
	if in.has(name) {
		text, ok := in.quoted()
		*s = string(text)
		in.took(ok)
	}
}

func (in *scanner) integer(name string, n *int, _ bool) {
	if in.has(name) {
		var err error
		*n, err = strconv.Atoi(in.token())
		in.took(err == nil)
	}
}

func (in *scanner) optional(name string, n **int) {
	if in.has(name) {
		*n = new(int)
		in.integer(name, *n, true)
	}
}

func (in *scanner) flag(name string, b **bool) {
	if !in.has(name) {
		return
	}
	*b = nil
	for _, value := range []bool{false, true} {
		if rest, ok := bytes.CutPrefix(in.rest, strconv.AppendBool(nil, value)); ok {
			*b, in.rest = &value, rest
		}
	}
	in.took(*b != nil)
}

func (in *scanner) seconds(name string, s *float64, _ bool) {
	if !in.has(name) {
		return
	}
	text := in.token()
	if text == "" || text[0] == '.' || text[0] == '-' {
		in.took(false)
		return
	}
	var err error
	*s, err = strconv.ParseFloat(text, 64)
	in.took(err == nil)
}

func (in *scanner) time(name string, t *Time, _ bool) {
	if in.has(name) {
		text, ok := in.quoted()
		var err error
		t.Time, err = time.Parse(time.RFC3339, string(text))
		in.took(ok && err == nil)
	}
}

func (in *scanner) raw(name string, data *json.RawMessage) {
	if in.has(name) {
		piece, ok := in.piece('{', '}')
		*data = piece
		in.took(ok)
	}
}

func (in *scanner) tools(name string, list *[]Tool) { in.list(name, list) }

func (in *scanner) toolCalls(name string, list *[]ToolCall) { in.list(name, list) }

func (in *scanner) labels(name string, tags *map[string]string) {
	if in.has(name) {
		piece, ok := in.piece('{', '}')
		in.took(ok && json.Unmarshal(piece, tags) == nil)
	}
}

func (in *scanner) list(name string, list any) {
	if in.has(name) {
		piece, ok := in.piece('[', ']')
		in.took(ok && json.Unmarshal(piece, list) == nil)
	}
}

func (in *scanner) skip(c byte) bool {
	if len(in.rest) == 0 || in.rest[0] != c {
		return false
	}
	in.rest = in.rest[1:]
	return true
}

// quoted reads a string without escapes.
func (in *scanner) quoted() ([]byte, bool) {
	if !in.skip('"') {
		return nil, false
	}
	end := bytes.IndexByte(in.rest, '"')
	if end < 0 {
		return nil, false
	}
	text := in.rest[:end]
	for _, c := range text {
		if c < ' ' || c == '\\' {
			return nil, false
		}
	}
	if !utf8.Valid(text) {
		return nil, false
	}
	in.rest = in.rest[end+1:]
	return text, true
}

// token reads up to the end of a number.
func (in *scanner) token() string {
	end := bytes.IndexAny(in.rest, ",}")
	if end < 0 {
		return ""
	}
	text := in.rest[:end]
	for i, c := range text {
		// A leading zero is no number in JSON; what else is strange is none to strconv.
		if c != '-' && c != '.' && (c < '0' || c > '9') || i == 0 && c == '0' && len(text) > 1 && text[1] != '.' || c == '.' && i+1 == len(text) {
			return ""
		}
	}
	in.rest = in.rest[end:]
	return string(text)
}

// piece reads a piece of JSON between brackets of one kind.
func (in *scanner) piece(open, end byte) (json.RawMessage, bool) {
	depth, quoted := 0, false
	for i := 0; i < len(in.rest); i++ {
		switch c := in.rest[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == open:
			depth++
		case c == end:
			if depth--; depth == 0 {
				piece := bytes.Clone(in.rest[:i+1])
				in.rest = in.rest[i+1:]
				return piece, json.Valid(piece)
			}
		case depth == 0:
			return nil, false
		}
	}
	return nil, false
}
