//go:build unix

package sharedfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// nonBlocking keeps an open of a pipe from waiting for its other end.
const nonBlocking = syscall.O_NONBLOCK

// ours refuses what is no file, and what another user has put there.
func ours(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New("it is not a file")
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to another user (uid %d)", sys.Uid)
	}
	return nil
}
