package command

import (
	"context"

	"github.com/belay-run/belay/internal/stdio"
)

// Become runs a program: Windows cannot replace a process.
func Become(ctx context.Context, std stdio.Streams, path string, argv []string) (int, error) {
	return runProgram(ctx, std, path, argv)
}
