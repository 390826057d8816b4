package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
)

// start is how every line begins. It is where a whole entry is found behind the torn tail of another.
var start = []byte(`{"timestamp":`)

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
			case len(bytes.TrimSpace(line)) > 0:
				e, whole, ok := parse(line)
				if !whole {
					count(torn)
				}
				if ok && !yield(e) {
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

// parse reads one line. A kill in the middle of a write leaves a tail without an end, which the next writer's line
// then stands behind: that one is saved.
func parse(line []byte) (e Entry, whole, ok bool) {
	if json.Unmarshal(line, &e) == nil && e.Invocation != "" {
		return e, true, true
	}
	if i := bytes.LastIndex(line, start); i > 0 {
		e = Entry{}
		if json.Unmarshal(line[i:], &e) == nil && e.Invocation != "" {
			return e, false, true
		}
	}
	return Entry{}, false, false
}
