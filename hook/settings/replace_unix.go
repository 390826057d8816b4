//go:build unix

package settings

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner lets a new file belong to whom the old one does, if we may.
func keepOwner(f *os.File, old fs.FileInfo) {
	if sys, ok := old.Sys().(*syscall.Stat_t); ok {
		f.Chown(int(sys.Uid), int(sys.Gid))
	}
}
