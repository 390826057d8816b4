//go:build unix

package clientfile

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/belay-run/belay/internal/message"
)

// explain says in plain words why a file cannot be replaced, where the system's own words speak of a temporary file.
func explain(path string, err error) error {
	created, _ := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, syscall.EROFS):
		return message.Error(message.ReadOnlyFS(filepath.Dir(path)))
	case errors.Is(err, syscall.EBUSY):
		return message.Error(message.MountedAlone())
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return message.Error(message.NoRoom(filepath.Dir(path)))
	case created != nil && (errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM)):
		return message.Error(message.CannotCreateIn(filepath.Dir(path), created.Err), created.Err)
	case errors.Is(err, syscall.EPERM):
		return message.Error(message.Immutable())
	}
	return err
}
