package tasks

import (
	"fmt"
)

// Format says how tasks are written down.
type Format string

const (
	JSONLines Format = "jsonl" // an object a line
	Lines     Format = "lines" // a prompt a line
	CSV       Format = "csv"   // a table with a header
	Files     Format = "files" // a directory with a file for each task
)

// Formats are those that a user may name.
var Formats = []string{string(JSONLines), string(Lines), string(CSV), string(Files)}

// MaxTask is how large a task may be: more than any CLI takes.
const MaxTask = 64 << 20

// Mistake says what is wrong with the tasks, and where.
type Mistake struct {
	Path         string
	Line, Column int // from 1; 0 if the mistake is in no single place
	Err          error
}

func (m *Mistake) Error() string {
	where := m.Path
	for _, n := range []int{m.Line, m.Column} {
		if n > 0 && m.Line > 0 {
			where += fmt.Sprintf(":%d", n)
		}
	}
	return fmt.Sprintf("%s: %v", where, m.Err)
}

// Unwrap returns what is wrong.
func (m *Mistake) Unwrap() error { return m.Err }

// Source is where the tasks are. Each reader begins with the first one.
type Source interface {
	// Name is what messages call it.
	Name() string
	// Open returns a reader that has to be closed.
	Open() (Reader, error)
	// Columns are the names of the placeholders that the source itself defines; nil if any may be there.
	Columns() ([]string, error)
}

// Reader reads tasks one after the other.
type Reader interface {
	// Next is the next task; its ID is empty if the file gives none. The error is [io.EOF] at the end, or a [*Mistake].
	Next() (Task, error)
	// Skip passes over the next task.
	Skip() error
	Close() error
}
