package flock

import (
	"errors"
	"math"
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

// lockFile locks a byte that no file has: what is locked can be neither read nor written by others, and the holder of a slot is
// written into its file. Its errors for a file system without locks are [errors.ErrUnsupported] already.
func lockFile(f *os.File, mode Mode, flags uint32) error {
	if mode == Exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{Offset: math.MaxUint32, OffsetHigh: math.MaxInt32})
	return os.NewSyscallError("LockFileEx", err)
}
