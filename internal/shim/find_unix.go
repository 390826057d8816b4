//go:build unix

package shim

import (
	"os"

	"golang.org/x/sys/unix"
)

// suffixes are what the name of an executable may end in.
var suffixes = [...]string{""}

func executable(path string, info os.FileInfo) bool {
	return info.Mode()&0o111 != 0 && unix.Access(path, unix.X_OK) == nil
}
