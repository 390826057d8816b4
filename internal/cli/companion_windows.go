package cli

import (
	"context"

	"github.com/belay-run/belay/internal/stdio"
)

// becomeCompanion runs it: Windows cannot replace a process.
func becomeCompanion(ctx context.Context, std stdio.Streams, path string, argv []string) (int, error) {
	return superviseCompanion(ctx, std, path, argv)
}
