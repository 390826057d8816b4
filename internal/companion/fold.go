package companion

import (
	"context"
	"errors"
	"time"

	"github.com/belay-run/belay/internal/companion/db"
	"github.com/belay-run/belay/internal/state"
)

// foldCommand brings the record up to date and delivers alerts. A run that failed starts it and does not wait: nobody
// hears what it says, and what it cannot do now is done by whoever asks next.
func foldCommand(ctx context.Context, _ caller, _ *arguments) (int, error) {
	dir, err := state.DefaultDir()
	if err == nil {
		_, err = state.Open(dir)
	}
	if err != nil {
		return 0, err
	}
	lazyGC()
	d, err := db.Open(dir)
	if err != nil {
		return 0, openTrouble(dir, err)
	}
	defer d.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = d.FoldAlone(ctx)
	return 0, errors.Join(err, deliverAlerts(ctx, d))
}
