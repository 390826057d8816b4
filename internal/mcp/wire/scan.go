package wire

import "bytes"

// scanner reads the envelope of one line, in as many pieces as it comes in. It checks the grammar of JSON but for the
// spelling of numbers, words and escapes, and skips what is in strings at the speed of memory.
type scanner struct {
	found finding
	state state
	off   int    // bytes before the present piece
	kinds []byte // the open brackets
	place [4]place
	field field // what the value at hand is

	escaped bool   // the string was cut behind a backslash
	keep    bool   // text is wanted
	text    []byte // of a key or a value that is wanted
	from    int    // where it begins
	args    bool   // in the arguments of a call
}

type state byte

const (
	atStart state = iota
	atFirstKey
	atKey
	atColon
	atValue
	atFirstValue
	afterValue
	inKey
	inString
	inScalar
	atEnd
	broken
)

// paramsDepth is how many brackets are open in the parameters of a request.
const paramsDepth = 2

// maxNesting is where encoding/json gives up too.
const maxNesting = 10000

func (s *scanner) reset() { *s = scanner{kinds: s.kinds[:0], text: s.text[:0]} }

// feed reads the next piece of the line.
func (s *scanner) feed(b []byte) {
	for i := 0; i < len(b); {
		switch s.state {
		case inString, inKey:
			n, ended := s.skip(b[i:])
			if s.keep {
				s.text = append(s.text, b[i:i+n]...)
			}
			if i += n; ended {
				s.endString(s.off + i)
			}
		case inScalar:
			n := i
			for i < len(b) && scalar[b[i]] {
				i++
			}
			if s.keep {
				s.text = append(s.text, b[n:i]...)
			}
			if i < len(b) {
				s.endValue(s.off + i)
			}
		case broken:
			i = len(b)
		default:
			c := b[i]
			if c != ' ' && c != '\t' && c != '\r' {
				s.punct(c, s.off+i)
			}
			i++
		}
	}
	s.off += len(b)
}

// scalar are the bytes that numbers and words are made of.
var scalar = [256]bool{
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'+': true, '-': true, '.': true, 'e': true, 'E': true,
	't': true, 'r': true, 'u': true, 'f': true, 'a': true, 'l': true, 's': true, 'n': true,
}

// shortString is how far a string is read byte by byte before it is searched: most are short, and where there is one
// escape there are many.
const shortString = 32

// skip returns how many bytes of b belong to the string, and whether it ends there.
func (s *scanner) skip(b []byte) (n int, ended bool) {
	i, quote := 0, -2 // the next quote from i on; -1 if there is none
	if s.escaped {
		s.escaped, i = false, 1
	}
	for {
		for end := min(i+shortString, len(b)); i < end; i++ {
			switch b[i] {
			case '"':
				return i + 1, true
			case '\\':
				if i++; i == len(b) {
					s.escaped = true
					return i, false
				}
				end = min(i+shortString, len(b))
			}
		}
		if i >= len(b) {
			return len(b), false
		}
		if quote != -1 && i > quote {
			if quote = bytes.IndexByte(b[i:], '"'); quote >= 0 {
				quote += i
			}
		}
		end := quote
		if quote < 0 {
			end = len(b)
		}
		slash := bytes.IndexByte(b[i:end], '\\')
		switch {
		case slash >= 0:
			i += slash
		case quote >= 0:
			return quote + 1, true
		default:
			return len(b), false
		}
	}
}

// punct takes a byte between strings and scalars. at is where it stands in the line.
func (s *scanner) punct(c byte, at int) {
	switch {
	case c == '"' && (s.state == atFirstKey || s.state == atKey):
		s.state = inKey
		s.begin(s.here() != elsewhere, at)
		s.text = append(s.text, c)
	case c == ':' && s.state == atColon:
		s.state = atValue
	case c == ',' && s.state == afterValue:
		if s.state = atValue; s.kinds[len(s.kinds)-1] == '{' {
			s.state = atKey
		}
	case c == '}' && (s.state == atFirstKey || s.state == afterValue):
		s.close('{', at)
	case c == ']' && (s.state == atFirstValue || s.state == afterValue):
		s.close('[', at)
	case s.state != atValue && s.state != atFirstValue && s.state != atStart:
		s.state = broken
	case c == '{' || c == '[':
		s.open(c, at)
	case s.state == atStart:
		s.state = broken // a message is an object, or an array of them
	case c == '"':
		s.state = inString
		s.begin(s.field.note != nil, at)
		s.text = append(s.text, c)
	case scalar[c]:
		s.state = inScalar
		s.begin(s.field.note != nil, at)
		s.text = append(s.text, c)
	default:
		s.state = broken
	}
}

func (s *scanner) begin(keep bool, at int) { s.keep, s.from, s.text = keep, at, s.text[:0] }

// here is the object that the scanner is in.
func (s *scanner) here() place {
	if depth := len(s.kinds); depth < len(s.place) {
		return s.place[depth]
	}
	return elsewhere
}

func (s *scanner) open(c byte, at int) {
	inner := elsewhere
	switch {
	case s.state == atStart && c == '{':
		inner = inMessage
	case s.state == atStart:
		s.found.Batch = true
	case s.field.args:
		s.args, s.found.ArgsAt.From = true, at
	case c == '{':
		inner = s.field.inner
	}
	if s.field.note != nil {
		s.field.note(&s.found, nil, Span{at, at}) // it is there, whatever it is
	}
	if len(s.kinds) == maxNesting {
		s.state = broken
		return
	}
	s.kinds = append(s.kinds, c)
	if depth := len(s.kinds); depth < len(s.place) {
		s.place[depth] = inner
	}
	s.field = field{}
	if s.state = atFirstValue; c == '{' {
		s.state = atFirstKey
	}
}

func (s *scanner) close(opened byte, at int) {
	last := len(s.kinds) - 1
	if last < 0 || s.kinds[last] != opened {
		s.state = broken
		return
	}
	s.kinds = s.kinds[:last]
	if s.args && last == paramsDepth {
		s.args, s.found.ArgsAt.To = false, at+1
	}
	s.field = field{}
	if s.state = afterValue; last == 0 {
		s.state = atEnd
	}
}

// endString is called when the string has ended before at.
func (s *scanner) endString(at int) {
	if s.state == inString {
		s.endValue(at)
		return
	}
	s.state, s.field = atColon, field{}
	if s.keep {
		s.field = fields[s.here()][string(plain(s.text))]
	}
}

func (s *scanner) endValue(at int) {
	if s.keep {
		s.field.note(&s.found, append([]byte(nil), s.text...), Span{s.from, at})
	}
	s.state, s.field = afterValue, field{}
}

// end returns the envelope of the line that has been fed.
func (s *scanner) end() Envelope {
	e := s.found.Envelope
	e.JSON = s.state == atEnd
	e.Valid = e.JSON && !e.Batch && s.found.jsonrpc && !s.found.odd
	return e
}
