//go:build unix

package command

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/message"
)

// minFiles is how many files must be allowed to be open at a time. With fewer the Go runtime cannot wait for pipes, and gives up.
const minFiles = 10

// CheckLimits says what keeps Belay from working at all in this process.
func CheckLimits() error {
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) != nil || uint64(files.Cur) >= minFiles {
		return nil
	}
	return Fail(message.Error(fmt.Sprintf("only %d open files are allowed here, and belay needs %d. To raise the limit: ulimit -n 1024", uint64(files.Cur), uint64(minFiles))))
}
