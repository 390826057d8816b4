//go:build unix

package clientfile

import (
	"io/fs"
	"os"
	"syscall"
)

// nonBlocking keeps an open of a pipe from waiting for its other end.
const nonBlocking = syscall.O_NONBLOCK

// keepOwner lets a new file belong to the owner of the old one, if that is allowed.
func keepOwner(f *os.File, old fs.FileInfo) {
	if sys, ok := old.Sys().(*syscall.Stat_t); ok {
		f.Chown(int(sys.Uid), int(sys.Gid))
	}
}
