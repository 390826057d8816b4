//go:build unix

package input

import (
	"os"

	"golang.org/x/sys/unix"
)

// unreadBytes is how many bytes of a pipe are not read yet.
func unreadBytes(pipe *os.File) int64 {
	n, err := unix.IoctlGetInt(int(pipe.Fd()), fionread)
	if err != nil {
		return 0
	}
	return int64(n)
}
