package question

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/fleet/logs"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

// FleetAddress is the PostgreSQL that a command's flag or the environment names.
func FleetAddress(r *request.Request) (*store.Address, error) {
	address, err := store.ParseAddress(r.Text("dsn"), os.Getenv)
	if err != nil {
		return nil, &request.UsageError{Err: err}
	}
	if address.Ignored != "" {
		r.Say(address.Ignored)
	}
	return address, nil
}

// OpenFleet opens the fleet that a command's flag or the environment names.
func OpenFleet(ctx context.Context, r *request.Request) (*store.Store, error) {
	address, err := FleetAddress(r)
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, address)
}

// CheckFleet refuses flags that mean nothing without --fleet.
func CheckFleet(r *request.Request) error {
	for _, name := range []string{"machine", "dsn"} {
		if r.Has("fleet") && !r.On("fleet") && r.Text(name) != "" {
			return &request.UsageError{Err: message.Error(message.NeedsFleet("--" + name))}
		}
	}
	return nil
}

// openFleet opens the record of the fleet and brings it up to date. With PostgreSQL out of reach, the answer comes from what was read of it before,
// and it says how old that is.
func openFleet(ctx context.Context, r *request.Request, own *state.State) (d *record.DB, fleet *store.Store, err error) {
	var lines record.Feed
	var away error
	if fleet, away = OpenFleet(ctx, r); away == nil {
		var feed *logs.Feed
		if feed, away = logs.NewFeed(ctx, fleet); away == nil {
			lines = feed
		}
	}
	if _, wrong := errors.AsType[*request.UsageError](away); wrong || errors.Is(away, store.ErrNotInitialised) || errors.Is(away, store.ErrOlder) || errors.Is(away, store.ErrNewer) {
		return nil, fleet, away
	}
	if lines != nil {
		own.Prepare() // for the copy; where it cannot be made, the answer is made in memory
	}
	if d, err = record.OpenFleet(own.Dir, lines); err != nil {
		return nil, fleet, database.OpenError(own.Dir, err)
	}
	if lines != nil {
		_, away = d.Fold(ctx)
	}
	SayOf(r, d)
	if away == nil {
		return d, fleet, nil
	}
	at := d.Updated(ctx)
	if at.IsZero() {
		return d, fleet, away
	}
	r.Say(message.FleetAsOf(away, at.Local().Format(time.DateTime), term.Span(time.Since(at))))
	return d, fleet, nil
}
