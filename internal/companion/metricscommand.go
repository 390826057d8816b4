//go:build !norecord

package companion

import (
	"context"
	"errors"

	"github.com/belay-run/belay/internal/atomicfile"
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
	if err := replacePublic(path, snap.Text()); err != nil {
		return 0, message.Error(message.MetricsNotWritten(path, err), err)
	}
	return 0, nil
}

// replacePublic replaces a file as a whole by one that every user can read: a collector of metrics is another one. Until then it has a
// name that no collector takes for one of its files.
func replacePublic(path string, data []byte) error {
	f, err := atomicfile.Create(path, ".belay-metrics-*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644)); err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Commit()
}
