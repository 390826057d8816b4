package cli

import (
	"context"

	"github.com/belay-run/belay/internal/stdio"
)

// become runs a program: Windows cannot replace a process.
func become(ctx context.Context, std stdio.Streams, path string, argv []string) (int, error) {
	return superviseProgram(ctx, std, path, argv)
}
