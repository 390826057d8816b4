//go:build unix

package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// nonBlocking keeps an open of a pipe from waiting for its other end.
const nonBlocking = syscall.O_NONBLOCK

// tryLock takes an exclusive lock that the kernel frees when the process ends, however it ends.
func tryLock(f *os.File) (bool, error) {
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return true, nil
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		return false, nil
	case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EOPNOTSUPP):
		return false, errors.ErrUnsupported
	default:
		return false, err
	}
}

// ours refuses what is no file, and what another user has put there.
func ours(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New("it is not a file")
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to another user (uid %d)", sys.Uid)
	}
	return nil
}
