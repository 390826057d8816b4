//go:build unix

package clientfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// explain says in plain words why a file cannot be replaced, where the system's own words speak of a temporary file.
func explain(path string, err error) error {
	created, _ := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s is on a read-only file system", filepath.Dir(path))
	case errors.Is(err, syscall.EBUSY):
		return errors.New("it is mounted on its own, and can only be replaced outside of that mount")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("there is no room left in %s", filepath.Dir(path))
	case created != nil && (errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM)):
		return fmt.Errorf("no file can be created in %s: %w", filepath.Dir(path), created.Err)
	case errors.Is(err, syscall.EPERM):
		return errors.New("it must not be replaced: it is immutable, or in a directory where only its owner may do that")
	}
	return err
}
