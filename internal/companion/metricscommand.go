//go:build !norecord

package companion

import (
	"context"
	"fmt"

	"github.com/belay-run/belay/internal/companion/metrics"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

// metricsCommand is belay metrics.
func metricsCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	q := newQuestion(from, args)
	err := q.ask(ctx)
	defer q.close()
	if err != nil {
		return 0, err
	}
	dir, err := state.DefaultDir()
	if err != nil {
		return 0, err
	}
	snap, err := metrics.Collect(ctx, q.db, &state.State{Dir: dir})
	if err != nil {
		return 0, err
	}
	path := q.text("output")
	if path == "" {
		return 0, term.Text(q.out, string(snap.Text()))
	}
	// A collector of metrics is another user, as a rule.
	if err := replaceFile(path, snap.Text(), 0o644); err != nil {
		return 0, message.Error(fmt.Sprintf("cannot write metrics to %s: %v", path, err), err)
	}
	return 0, nil
}
