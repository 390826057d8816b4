// Package metrics is belay metrics: counters and gauges for Prometheus.
package metrics

import (
	"context"
	"fmt"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/telemetry/metrics"
	"github.com/belay-run/belay/internal/term"
)

// Run is belay metrics.
func Run(ctx context.Context, r *request.Request) (int, error) {
	return question.Answer(ctx, r, answer)
}

func answer(ctx context.Context, q *question.Question) error {
	snap, err := metrics.Collect(ctx, q.DB, q.State)
	if err != nil {
		return err
	}
	path := q.Text("output")
	if path == "" {
		return term.Text(q.Out, string(snap.Text()))
	}
	// A collector of metrics is another user, as a rule, and takes what has another name for none of its files.
	if err := atomicfile.WriteMode(path, ".belay-output-*.tmp", snap.Text(), 0o644); err != nil {
		return message.Error(fmt.Sprintf("cannot write metrics to %s: %v", path, err), err)
	}
	return nil
}
