package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/belay-run/belay/internal/printable"
)

// LongLine is a line that is too long for memory. It is read from where it was spooled.
type LongLine struct {
	spool   Spool
	size    int64    // without the line's end
	members []member // of the object that the line is
	cuts    []cut    // the strings that the abridged form has not whole
	kept    bool     // it will be read again
}

// member is a field of the outermost object, its name included.
type member struct {
	name     string
	from, to int64
}

// cut is a string that was cut: what stands between its quotes.
type cut struct {
	path     string // the names of the fields that lead to it, with dots in between; an element of a list has none
	from, to int64
}

// Kept reports whether it will be read again, by an [Answer] or after [Line.Keep].
func (l *LongLine) Kept() bool { return l.kept }

// Close frees it.
func (l *LongLine) Close() error { return l.spool.Close() }

// WriteTo writes the line without its end.
func (l *LongLine) WriteTo(w io.Writer) (int64, error) { return l.writeTo(w, 0, l.size) }

func (l *LongLine) writeTo(w io.Writer, from, to int64) (int64, error) {
	return io.CopyBuffer(w, onlyReader{io.NewSectionReader(l.spool, from, to-from)}, make([]byte, 64<<10))
}

// onlyReader hides all methods of a reader but one, so that io.CopyBuffer uses its buffer.
type onlyReader struct{ io.Reader }

// WriteWithout writes the line, which is a JSON object, without one of its fields and without the line's end.
func (l *LongLine) WriteWithout(w io.Writer, field string) error {
	from, to := l.size, l.size
	for i, m := range l.members {
		if m.name != field {
			continue
		}
		switch from, to = m.from, m.to; {
		case i > 0:
			from = l.members[i-1].to // the comma goes too
		case len(l.members) > 1:
			to = l.members[1].from
		}
	}
	_, err := l.writeTo(w, 0, from)
	if err == nil {
		_, err = l.writeTo(w, to, l.size)
	}
	return err
}

// Answer is what a model has said: in memory, or in a line that was too long for it.
type Answer struct {
	text    string
	line    *LongLine
	cut     cut
	printed bool
	parts   []Answer // that it consists of; nil if it is one piece
}

// Printed is the answer of a CLI that prints its answer and nothing else: all of its stdout, but for the end of the last
// line.
var Printed = Answer{printed: true}

// IsPrinted reports whether it is [Printed].
func (a Answer) IsPrinted() bool { return a.printed }

// NewAnswer is the string at a path of the line, such as "item.text". text is what the line's abridged form has there.
func NewAnswer(line Line, path, text string) Answer {
	if line.Long != nil {
		for _, c := range line.Long.cuts {
			if c.path == path {
				line.Long.kept = true
				return Answer{text: text, line: line.Long, cut: c}
			}
		}
	}
	return Answer{text: text}
}

// maxWhole is how much of a line [Line.Whole] takes into memory.
const maxWhole = 16 << 20

// Whole is the string at a path of the line, for which text is what the line's abridged form has there. Of one that is too
// long even for a moment, it is that.
func (l Line) Whole(path, text string) string {
	if l.Long == nil {
		return text
	}
	for _, c := range l.Long.cuts {
		if c.path == path && c.to-c.from <= maxWhole {
			var whole bytes.Buffer
			if _, err := (Answer{line: l.Long, cut: c}).WriteTo(&whole); err == nil {
				return whole.String()
			}
		}
	}
	return text
}

// NewQuotedAnswer is the string of a line in a JSON object that is printed on several lines: what stands between the opening quote,
// which ends the prefix, and the closing one, which only a comma may follow. text is what is to be shown of it. ok is false if
// the line is not such a one.
func NewQuotedAnswer(line Line, prefix, text string) (a Answer, ok bool) {
	end := bytes.TrimSuffix(line.Text, []byte(","))
	if !bytes.HasPrefix(line.Text, []byte(prefix)) || !bytes.HasSuffix(end, []byte(`"`)) || len(end) <= len(prefix) {
		return Answer{}, false
	}
	if line.Long == nil {
		return Answer{text: text}, true
	}
	line.Long.kept = true
	after := int64(len(line.Text) - len(end) + 1)
	return Answer{text: text, line: line.Long, cut: cut{from: int64(len(prefix)), to: line.Long.size - after}}, true
}

// JoinAnswers is what they say one after the other.
func JoinAnswers(parts ...Answer) Answer {
	if len(parts) == 1 {
		return parts[0]
	}
	var text strings.Builder
	for _, part := range parts {
		text.WriteString(part.text)
	}
	return Answer{text: text.String(), parts: parts}
}

// String is the answer; of a long one, its beginning and its end.
func (a Answer) String() string { return a.text }

// WriteTo writes all of the answer.
func (a Answer) WriteTo(w io.Writer) (int64, error) {
	if a.parts != nil {
		var sum int64
		for _, part := range a.parts {
			n, err := part.WriteTo(w)
			if sum += n; err != nil {
				return sum, err
			}
		}
		return sum, nil
	}
	if a.line == nil {
		n, err := io.WriteString(w, a.text)
		return int64(n), err
	}
	return unquote(w, io.NewSectionReader(a.line.spool, a.cut.from, a.cut.to-a.cut.from))
}

// unquote writes what a JSON string means, piece by piece. r is what stands between the quotes.
func unquote(w io.Writer, r io.Reader) (written int64, err error) {
	buf := make([]byte, 0, 64<<10)
	for ended := false; !ended; {
		n, rerr := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if ended = rerr != nil; ended && !errors.Is(rerr, io.EOF) && !errors.Is(rerr, io.ErrUnexpectedEOF) {
			return written, rerr
		}
		whole := len(buf)
		if !ended {
			whole = wholeCharacters(buf)
		}
		var text string
		if err := json.Unmarshal(append(append([]byte{'"'}, buf[:whole]...), '"'), &text); err != nil {
			return written, err
		}
		m, err := io.WriteString(w, text)
		if written += int64(m); err != nil {
			return written, err
		}
		buf = buf[:copy(buf, buf[whole:])]
	}
	return written, nil
}

// wholeCharacters is how much of a piece of a JSON string can be read by itself: no escape and no character is split at
// its end, nor are the two escapes of one character.
func wholeCharacters(s []byte) int {
	at, pair := 0, -1 // pair is where the first escape of such a character stands
	for at < len(s) {
		if s[at] != '\\' {
			pair = -1
			i := bytes.IndexByte(s[at:], '\\')
			if i < 0 {
				return printable.WholeRunes(s)
			}
			at += i
			continue
		}
		size := 2
		if at+1 < len(s) && s[at+1] == 'u' {
			size = 6
		}
		if at+size > len(s) {
			break
		}
		pair = -1
		if size == 6 && (s[at+2] == 'd' || s[at+2] == 'D') && bytes.IndexByte([]byte("89abAB"), s[at+3]) >= 0 {
			pair = at
		}
		at += size
	}
	if pair >= 0 {
		return pair
	}
	return at
}
