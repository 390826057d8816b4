//go:build linux || darwin

package stream

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// unread is how much a pipe holds.
func unread(f *os.File) (n int) {
	conn, err := f.SyscallConn()
	if err == nil {
		conn.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), fionread) })
	}
	return n
}

// wakeReader does nothing: the pipes of this system have deadlines.
func wakeReader(*os.File) {}

// wasWoken reports whether a deadline has ended a read.
func wasWoken(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
