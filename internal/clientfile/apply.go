package clientfile

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"time"

	"github.com/belay-run/belay/internal/redact"
)

// ReadAny reads a file; nil if there is none.
func ReadAny(l Location) (*File, error) {
	file, err := Read(l)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return file, err
}

// editTries is how often an edit is tried while the file is changed by its client, which does so a few times in a second at most.
const editTries = 50

// Applied is an edit of a file, and what it has come to.
type Applied struct {
	File *File // nil if there is none
	Edit
	Copied string // where the copy of the file is; empty if there is none
	Diff   string // what would change, if nothing is to be changed
	Step   Step
}

// Step is a step of an edit: one that has failed is told in words of its own.
type Step int

// The steps of an edit, in their order.
const (
	ReadStep Step = iota
	ChangeStep
	WriteStep
)

// Apply edits a file, or finds out what would change. If the file is changed meanwhile, it is read and edited again. With an error the file is as it was.
func Apply(l Location, dryRun bool, how func(*File) (Edit, error)) (e Applied, err error) {
	for try := 1; ; try++ {
		e.Step = ReadStep
		if e.File, err = ReadAny(l); err != nil || e.File == nil {
			return e, err
		}
		e.Step = ChangeStep
		if e.Edit, err = how(e.File); err != nil {
			return e, err
		}
		switch {
		case bytes.Equal(e.File.Text, e.After):
			return e, nil
		case dryRun:
			e.Diff = redact.Text(Diff(l.Path, e.File.Text, e.After)) // headers of servers are credentials
			return e, nil
		}
		e.Step = WriteStep
		e.Copied, err = e.File.Replace(e.After)
		if !errors.Is(err, ErrChanged) || try == editTries {
			return e, err
		}
		time.Sleep(rand.N(20 * time.Millisecond)) // so that it keeps no time with the client
	}
}
