//go:build unix

package cli

import (
	"context"
	"os"
	"syscall"

	"github.com/belay-run/belay/internal/stdio"
)

// becomeCompanion replaces this process, if it is ours, so that signals, terminal and exit code are belayd's directly. Else
// it runs belayd.
func becomeCompanion(ctx context.Context, std stdio.Streams, path string, argv []string) (int, error) {
	if ownsProcess(ctx) == nil {
		return superviseCompanion(ctx, std, path, argv)
	}
	return 0, syscall.Exec(path, argv, os.Environ())
}
