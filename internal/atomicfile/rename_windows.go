package atomicfile

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// renameTimeout is how long a rename is tried.
const renameTimeout = 2 * time.Second

// rename is [os.Rename], which fails here for as long as another process has the old file open: one that reads it, or one that
// searches new files for viruses. Both take a moment, whose end nothing tells: it is polled, without package retry.
func rename(from, to string) error {
	pause := time.Millisecond
	for begin := time.Now(); ; pause = min(2*pause, 50*time.Millisecond) {
		err := os.Rename(from, to)
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) || time.Since(begin) > renameTimeout {
			return err
		}
		if info, lerr := os.Lstat(to); lerr == nil && !info.Mode().IsRegular() {
			return err // a directory stays one
		}
		time.Sleep(pause)
	}
}
