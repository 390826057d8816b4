package gate

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const nonBlocking = 0

// tryLock takes an exclusive lock that the system frees when the process ends, however it ends.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func ours(fs.FileInfo) error { return nil }
