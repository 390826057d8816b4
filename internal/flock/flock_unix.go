//go:build unix

package flock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

func try(f *os.File, mode Mode) (bool, error) {
	err := flock(f, mode, syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func lock(f *os.File, mode Mode) error { return flock(f, mode, 0) }

// flock is flock(2). Not fcntl(2): a process would lose its lock as soon as it closes any other open of the file.
func flock(f *os.File, mode Mode, flags int) error {
	how := syscall.LOCK_EX
	if mode == Shared {
		how = syscall.LOCK_SH
	}
	for {
		if err := syscall.Flock(int(f.Fd()), how|flags); err != syscall.EINTR {
			return explain(err)
		}
	}
}

// explain marks the errors that mean that the file system has no locks: ENOLCK comes from an NFS without its lock service,
// the others from file systems that have never had any.
func explain(err error) error {
	switch err {
	case nil:
		return nil
	case syscall.ENOLCK, syscall.ENOSYS, syscall.EINVAL, syscall.EOPNOTSUPP:
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return os.NewSyscallError("flock", err)
}
