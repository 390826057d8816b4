package target

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/belay-run/belay/internal/clientfile"
)

// Look is a location and the file that is there.
type Look struct {
	clientfile.Location
	File *clientfile.File // nil if there is none, or err
	Err  error
}

// Look reads all files of the target. One that cannot be read does not hide the others.
func (t *Target) Look() (looks []Look, err error) {
	places, err := t.Locations()
	for _, l := range places {
		file, err := clientfile.Look(l)
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		looks = append(looks, Look{l, file, err})
	}
	return looks, err
}

// FullPath is the whole path of the file.
func (l Look) FullPath() string {
	if whole, err := filepath.Abs(l.Path); err == nil {
		return whole
	}
	return l.Path
}

// Found says in a few words what there is.
func (l Look) Found() string {
	switch {
	case l.Err != nil:
		return "cannot be read"
	case l.File == nil:
		return "not found"
	}
	return count(len(l.File.Entries), Noun(l.Kind))
}
