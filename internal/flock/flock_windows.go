package flock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func try(f *os.File, mode Mode) (bool, error) {
	err := lockFile(f, mode, windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func lock(f *os.File, mode Mode) error { return lockFile(f, mode, 0) }

// lockFile locks the first byte. Its errors for a file system without locks are [errors.ErrUnsupported] already.
func lockFile(f *os.File, mode Mode, flags uint32) error {
	if mode == Exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	return os.NewSyscallError("LockFileEx", err)
}
