package db

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockFile waits for a lock that the system frees when the process ends.
func lockFile(path string) (unlock func(), err error) {
	return lock(path, windows.LOCKFILE_EXCLUSIVE_LOCK)
}

// shareLock waits until nobody has the lock alone.
func shareLock(path string) (unlock func(), err error) { return lock(path, 0) }

// tryLockFile takes the lock if nobody has it.
func tryLockFile(path string) (unlock func(), err error) {
	return lock(path, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
}

func lock(path string, how uint32) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped)); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
