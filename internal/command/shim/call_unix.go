//go:build unix

package shim

import (
	"golang.org/x/sys/unix"
)

// takesFiles reports whether files can be made in a directory.
func takesFiles(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }
