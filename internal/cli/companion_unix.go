//go:build unix

package cli

import (
	"os"
	"syscall"
)

// becomeCompanion replaces this process: signals, terminal and exit code need nobody in between.
func becomeCompanion(path string, argv []string) (int, error) {
	return 0, syscall.Exec(path, argv, os.Environ())
}
