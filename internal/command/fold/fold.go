// Package fold is what belayd does in the background after a run: it brings the record up to date, sends telemetry, and delivers alerts.
package fold

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/belay-run/belay/internal/alert/delivery"
	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/telemetry"
)

// Run brings the record up to date and delivers alerts. A failed run starts it in the background: its messages are
// not shown, and what it cannot do is done by the next command that reads the record.
func Run(ctx context.Context, r *request.Request) (int, error) {
	dir, err := state.DefaultDir()
	if err == nil {
		_, err = state.Open(dir)
	}
	if err != nil {
		return 0, err
	}
	question.LazyGC()
	d, err := record.Open(dir)
	if err != nil {
		return 0, database.OpenError(dir, err)
	}
	defer d.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = d.FoldAlone(ctx)
	if r.On(belayd.Telemetry) {
		err = errors.Join(err, sendFolded(ctx, d))
	}
	return 0, errors.Join(err, delivery.Deliver(ctx, d))
}

// sendFolded is what belayd does in the background after a run with telemetry. Its messages go to the record, not to a terminal.
func sendFolded(ctx context.Context, d *record.DB) error {
	settings, err := telemetry.FromEnviron(os.Getenv)
	if err != nil {
		return errors.Join(d.Outbox.Begin(ctx), d.Outbox.Note(ctx, err))
	}
	if _, err := config.ReadUser(); err != nil { // which declares profiles
		return err
	}
	s := &telemetry.Sender{DB: d, Settings: settings, Kinds: telemetry.Registered()}
	defer s.Close()
	_, err = s.SendAlone(ctx, true, time.Minute)
	return err
}
