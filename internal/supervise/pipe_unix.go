//go:build linux || darwin

package supervise

import (
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
