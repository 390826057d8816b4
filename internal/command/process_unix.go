//go:build unix

package command

import (
	"context"
	"os"
	"syscall"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/stdio"
)

// Become replaces this process by a program, if it is ours, so that signals, terminal and exit code are the program's directly. Else
// it runs the program.
func Become(ctx context.Context, std stdio.Streams, path string, argv []string) (int, error) {
	if OwnsProcess(ctx) == nil {
		return runProgram(ctx, std, path, argv)
	}
	return 0, syscall.Exec(path, argv, belayd.Environ(os.Environ()))
}
