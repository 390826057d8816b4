//go:build unix

package cli

import (
	"context"
	"github.com/belay-run/belay/internal/belayd"
	"os"
	"syscall"

	"github.com/belay-run/belay/internal/stdio"
)

// become replaces this process by a program, if it is ours, so that signals, terminal and exit code are the program's directly. Else
// it runs the program.
func become(ctx context.Context, std stdio.Streams, path string, argv []string) (int, error) {
	if ownsProcess(ctx) == nil {
		return superviseProgram(ctx, std, path, argv)
	}
	return 0, syscall.Exec(path, argv, belayd.Environ(os.Environ()))
}
