//go:build unix

package state

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// trusted refuses what is not a directory of ours alone.
func trusted(dir string, info fs.FileInfo) error {
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user (uid %d); set %s to a directory of yours", dir, sys.Uid, DirVar)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others may write to %s; run: chmod go-w %s", dir, dir)
	}
	return nil
}
