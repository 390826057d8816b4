//go:build !norecord

package companion

import (
	"context"
	"fmt"

	"github.com/belay-run/belay/internal/companion/metrics"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
)

// metricsCommand is belay metrics.
func metricsCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	return answered(ctx, from, args, func(q *question) error {
		snap, err := metrics.Collect(ctx, q.db, q.state)
		if err != nil {
			return err
		}
		path := q.text("output")
		if path == "" {
			return term.Text(q.out, string(snap.Text()))
		}
		// A collector of metrics is another user, as a rule.
		if err := replaceFile(path, snap.Text(), 0o644); err != nil {
			return message.Error(fmt.Sprintf("cannot write metrics to %s: %v", path, err), err)
		}
		return nil
	})
}
