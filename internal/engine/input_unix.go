//go:build unix

package engine

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

// sameOpenFile reports whether two files are one.
func sameOpenFile(f, g *os.File) bool {
	fi, err := f.Stat()
	gi, err2 := g.Stat()
	return err == nil && err2 == nil && os.SameFile(fi, gi)
}
