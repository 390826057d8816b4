//go:build unix && !linux

package clientfile

import (
	"io/fs"
	"syscall"
	"time"
)

// lastChange is when a file was last written or renamed: what an exchange has brought out may have been written long ago.
func lastChange(info fs.FileInfo) time.Time {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(sys.Ctimespec.Unix())
	}
	return info.ModTime()
}
