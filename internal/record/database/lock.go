package database

import (
	"errors"
	"os"

	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/safefile"
)

// lockFile waits for a lock, which lasts until the file is closed. It does not create the directory: where there is none,
// there is no record, and a question must not begin one.
func lockFile(path string, mode flock.Mode) (*os.File, error) {
	f, err := flock.Open(path)
	if err != nil {
		return nil, err
	}
	if err := flock.Lock(f, mode); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// TryLock takes a lock for this process alone; false if another has it, or there is no place for one. If something else
// has its name, no process can lock it, and each does without; the file is nil then, and can be closed.
func TryLock(path string) (*os.File, bool) {
	f, err := flock.Open(path)
	if _, refused := errors.AsType[*safefile.Error](err); refused {
		return nil, true
	}
	if err != nil {
		return nil, false
	}
	held, _ := flock.Try(f, flock.Exclusive)
	if !held {
		f.Close()
	}
	return f, held
}
