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
	in := &scanner{bytes.TrimRight(line, "\r\n")}
	if !in.skip('{') {
		return false
	}
	key, ok := in.key()
	for f := range e.fields() {
		if string(key) != f.name {
			continue
		}
		switch {
		case !ok || !in.value(f.value):
			return false
		case in.skip('}'):
			return len(in.rest) == 0
		case !in.skip(','):
			return false
		}
		key, ok = in.key()
	}
	return false
}

// scanner is what is left of a line.
type scanner struct{ rest []byte }

// key reads the key of a field.
func (in *scanner) key() ([]byte, bool) {
	key, ok := in.quoted()
	return key, ok && in.skip(':')
}

// value reads the value of a field, and reports whether it is plain.
func (in *scanner) value(v any) (ok bool) {
	var err error
	switch v := v.(type) {
	case *string:
		text, ok := in.quoted()
		*v = string(text)
		return ok
	case *int:
		*v, err = strconv.Atoi(in.token())
		return err == nil
	case **int:
		*v = new(int)
		return in.value(*v)
	case **bool:
		for _, value := range []bool{false, true} {
			if rest, is := bytes.CutPrefix(in.rest, strconv.AppendBool(nil, value)); is {
				*v, in.rest = &value, rest
				return true
			}
		}
		return false
	case *float64:
		text := in.token()
		if text == "" || text[0] == '.' || text[0] == '-' {
			return false
		}
		*v, err = strconv.ParseFloat(text, 64)
		return err == nil
	case *Time:
		text, ok := in.quoted()
		v.Time, err = time.Parse(time.RFC3339, string(text))
		return ok && err == nil
	case *json.RawMessage:
		*v, ok = in.piece('{', '}')
		return ok
	case *map[string]string, **Check:
		piece, ok := in.piece('{', '}')
		return ok && json.Unmarshal(piece, v) == nil
	}
	piece, ok := in.piece('[', ']')
	return ok && json.Unmarshal(piece, v) == nil
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
