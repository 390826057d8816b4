//go:build !norecord

package companion

import (
	"context"
	"errors"
	"time"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/companion/db"
	"github.com/belay-run/belay/internal/state"
)

// foldCommand brings the record up to date and delivers alerts. A failed run starts it in the background: its messages are
// not shown, and what it cannot do is done by the next command that reads the record.
func foldCommand(ctx context.Context, _ caller, args *arguments) (int, error) {
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
	if args.on(belayd.Telemetry) {
		err = errors.Join(err, sendFolded(ctx, d))
	}
	return 0, errors.Join(err, deliverAlerts(ctx, d))
}
