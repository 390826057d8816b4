package rehearse

import (
	"os"
	"path/filepath"

	"github.com/belay-run/belay/internal/flock"
)

// Dir is a temporary directory for a rehearsal. It holds a lock on a file in it, so that what a killed rehearsal leaves can
// be told from a directory in use: package state removes the former.
type Dir struct {
	Path string
	lock *os.File
}

// MakeDir makes a directory, which the caller removes.
func MakeDir() (*Dir, error) {
	path, err := os.MkdirTemp("", "belay-rehearsal-")
	if err != nil {
		return nil, err
	}
	d := &Dir{Path: path}
	if d.lock, err = flock.Open(filepath.Join(path, ".lock")); err != nil {
		os.RemoveAll(path)
		return nil, err
	}
	flock.Try(d.lock, flock.Exclusive) // where there are no locks, what is left stays
	return d, nil
}

// Remove removes the directory with all that is in it.
func (d *Dir) Remove() error {
	d.lock.Close()
	return os.RemoveAll(d.Path)
}
