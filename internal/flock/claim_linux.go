package flock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// claim locks a byte far behind the end of the file, by a lock that belongs to the open file as that of flock(2) does.
func claim(f *os.File) bool {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: 1 << 62, Len: 1}
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock)
	return !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES)
}
