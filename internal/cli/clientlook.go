package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/belay-run/belay/internal/clientfile"
)

// clientLook is a location and the file that is there.
type clientLook struct {
	clientfile.Location
	file *clientfile.File // nil if there is none, or err
	err  error
}

// look reads all files of the target. One that cannot be read does not hide the others.
func (t *clientTarget) look() (looks []clientLook, err error) {
	places, err := t.locations()
	for _, l := range places {
		file, err := clientfile.Look(l)
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		looks = append(looks, clientLook{l, file, err})
	}
	return looks, err
}

// path is the whole path of the file.
func (l clientLook) path() string {
	if whole, err := filepath.Abs(l.Path); err == nil {
		return whole
	}
	return l.Path
}

// found says in a few words what there is.
func (l clientLook) found() string {
	switch {
	case l.err != nil:
		return "cannot be read"
	case l.file == nil:
		return "not found"
	}
	return count(len(l.file.Entries), noun(l.Kind))
}
