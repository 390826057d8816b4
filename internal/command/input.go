package command

import (
	"context"
	"fmt"
	"runtime"

	"github.com/belay-run/belay/internal/message"
)

// MaxPrompt is more than any CLI takes; what is larger is a mistake.
const MaxPrompt = 64 << 20

// IsStdin reports whether a path names stdin. It is not opened anew: a socket cannot be, and a file would be read from its
// beginning.
func IsStdin(path string) bool {
	return runtime.GOOS != "windows" && (path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0")
}

// InputInterrupted says that belay was stopped while it read a prompt.
func InputInterrupted(ctx context.Context, what string) error {
	cause := context.Cause(ctx)
	return WithCode(message.Error(fmt.Sprintf("the %s was still being read (%v), so nothing was started", what, cause), cause), CodeStopped)
}
