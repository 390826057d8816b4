// Package atomicfile replaces a file as a whole, by a new one that takes its name.
//
// A reader sees the old content or the new one, never half of either. A writer that is killed leaves one of them, and perhaps
// its temporary file.
//
// Nothing is synced: after a power failure the file may be empty or damaged. Belay's own files can be lost without harm, and
// an fsync would cost more than all else in an update. Where that is different, call Sync before [File.Commit].
//
// Files are created for this user alone, mode 0600, whatever the mode of the file that they replace, unless [WriteMode] says
// otherwise. A symbolic link is replaced and not followed.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/belay-run/belay/internal/safefile"
)

// WriteVia replaces the file at path by one with this content, which is first written to tmp, in the same directory. If that
// fails, tmp is removed. What is at tmp is removed before, and not written to: only one process may use the name at a time,
// for instance because it holds a lock. In return a writer that is killed leaves a file with a name that is known, and never
// more than one.
func WriteVia(tmp, path string, data []byte) error {
	f, err := safefile.CreateOwn(tmp)
	if errors.Is(err, fs.ErrExist) {
		if err = os.Remove(tmp); err == nil || errors.Is(err, fs.ErrNotExist) {
			f, err = safefile.CreateOwn(tmp)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp)
	}
	return err
}

// Write replaces the file at path by one with this content. Any number of processes may do so at the same time; the last one
// wins. The pattern is that of the temporary file, as for [Create].
func Write(path, pattern string, data []byte) error { return WriteMode(path, pattern, data, 0) }

// WriteMode is Write for a file of another mode; 0 means 0600.
func WriteMode(path, pattern string, data []byte, mode fs.FileMode) error {
	f, err := Create(path, pattern)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	if err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Commit()
}

// File is a new file that is to replace another.
type File struct {
	*os.File
	path string
}

// Create creates a file that Commit gives the name path. Until then it is beside it, under a name that [os.CreateTemp] makes
// of the pattern. It must be ended by Commit or Discard.
func Create(path, pattern string) (*File, error) {
	f, err := os.CreateTemp(filepath.Dir(path), pattern)
	if err != nil {
		return nil, err
	}
	return &File{f, path}, nil
}

// Commit closes the file and gives it its name. If that fails, the file is removed; an error of the renaming is an
// [*os.LinkError].
func (f *File) Commit() error {
	err := f.Close()
	if err == nil {
		err = rename(f.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Discard closes and removes the file, and leaves the one at path as it is.
func (f *File) Discard() error { return errors.Join(f.Close(), os.Remove(f.Name())) }
