//go:build unix

package jobs

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// A worker that is stopped while it still waits for PostgreSQL leaves as one that is at work does: that is no failure.
func TestWorker_LeavesBeforeItBegins(t *testing.T) {
	t.Parallel()
	network := fleettest.Forward(t, fleettest.Database(t))
	s := connect(t, network.DSN())
	network.Cut()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	w := &Worker{Store: s, Machine: "bee", Count: 1, Dir: filepath.Join(t.TempDir(), "fleet", "jobs"), Say: func(string) {}}
	if err := w.Run(ctx, nil); err != nil {
		t.Error(err)
	}
}
