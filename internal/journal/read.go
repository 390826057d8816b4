package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
)

// lineStart is how every line begins. By it a whole entry is found behind the torn tail of another.
var lineStart = []byte(`{"timestamp":`)

// Read returns the entries of a log. torn, if not nil, counts the lines that were not whole. Lines are bounded: one
// that is longer than any entry is skipped, whatever its length.
func Read(r io.Reader, torn *int) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		in := bufio.NewReaderSize(r, 2*maxLine)
		tooLong := false
		for {
			line, err := in.ReadSlice('\n')
			switch {
			case errors.Is(err, bufio.ErrBufferFull):
				tooLong = true
				continue
			case tooLong && len(line) > 0:
				tooLong = false
				count(torn)
			default:
				l := Parse(line)
				if l.Torn {
					count(torn)
				}
				if l.Entry != nil && !yield(*l.Entry) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}

func count(torn *int) {
	if torn != nil {
		*torn++
	}
}

// Line is what stands in a line of the log.
type Line struct {
	Entry *Entry // nil if there is none that can be read
	// Torn says that the line, or its beginning, is what a killed writer has left.
	Torn bool
}

// Parse reads one line. A kill in the middle of a write leaves a tail without an end, which the next writer's line then
// stands behind: that one is saved.
func Parse(line []byte) Line {
	if len(bytes.TrimSpace(line)) == 0 {
		return Line{}
	}
	if e := parse(line); e != nil {
		return Line{Entry: e}
	}
	if i := bytes.LastIndex(line, lineStart); i > 0 {
		return Line{Entry: parse(line[i:]), Torn: true}
	}
	return Line{Torn: true}
}

func parse(line []byte) *Entry {
	e := new(Entry)
	if !decode(line, e) {
		*e = Entry{}
		if json.Unmarshal(line, e) != nil {
			return nil
		}
	}
	if e.Invocation == "" && e.Kind == "" {
		return nil
	}
	return e
}
