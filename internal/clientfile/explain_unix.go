//go:build unix

package clientfile

import (
	"errors"
	"fmt"
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
		return message.Error(filepath.Dir(path) + " is on a read-only file system")
	case errors.Is(err, syscall.EBUSY):
		return message.Error("it is a mount of its own and can only be replaced outside that mount")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return message.Error("no space left in " + filepath.Dir(path))
	case created != nil && (errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM)):
		return message.Error(fmt.Sprintf("cannot create a file in %s: %v", filepath.Dir(path), created.Err), created.Err)
	case errors.Is(err, syscall.EPERM):
		return message.Error("it cannot be replaced: it is immutable, or only the owner of its directory may replace it")
	}
	return err
}
