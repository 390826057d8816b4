package gate

import (
	"errors"
	"os"
)

// FilesWithoutLocks are kept on a file system that has no locks.
func FilesWithoutLocks(dir string) *Files {
	return &Files{Dir: dir, try: func(*os.File) (bool, error) { return false, errors.ErrUnsupported }}
}

// FilesWithBrokenLocks are kept on one whose locks fail.
func FilesWithBrokenLocks(dir string) *Files {
	return &Files{Dir: dir, try: func(*os.File) (bool, error) { return false, errors.New("input/output error") }}
}
