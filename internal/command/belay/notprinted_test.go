package belay_test

import (
	"context"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/command/belay"
)

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// Where Belay is a function and no process, a reader that has left is an error of a write: it is not said, other errors are.
func TestRun_NotPrinted(t *testing.T) {
	for err, want := range map[error]string{syscall.EPIPE: "", syscall.ENOSPC: "belay: cannot write to stdout: no space left on device\n", io.ErrClosedPipe: "belay: cannot write to stdout: " + io.ErrClosedPipe.Error() + "\n"} {
		var stderr strings.Builder
		if code := belay.Run(context.Background(), []string{"--version"}, nil, broken{err}, &stderr); code != 125 || stderr.String() != want {
			t.Errorf("%v: exit code %d, %q", err, code, stderr.String())
		}
	}
}
