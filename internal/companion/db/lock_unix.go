//go:build unix

package db

import (
	"os"
	"syscall"
)

// lockFile waits for a lock that the kernel frees when the process ends.
func lockFile(path string) (unlock func(), err error) { return flock(path, syscall.LOCK_EX) }

// shareLock waits until nobody has the lock alone.
func shareLock(path string) (unlock func(), err error) { return flock(path, syscall.LOCK_SH) }

// tryLockFile takes the lock if nobody has it.
func tryLockFile(path string) (unlock func(), err error) {
	return flock(path, syscall.LOCK_EX|syscall.LOCK_NB)
}

func flock(path string, how int) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
