//go:build !norecord

package companion

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/companion/db"
	"github.com/belay-run/belay/internal/companion/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

// checkFleet refuses flags that mean nothing without --fleet.
func (a *arguments) checkFleet() error {
	for _, name := range []string{"machine", "dsn"} {
		if a.has("fleet") && !a.on("fleet") && a.text(name) != "" {
			return &usageError{err: message.Error(message.NeedsFleet("--" + name))}
		}
	}
	return nil
}

// openFleet opens the record of the fleet and brings it up to date. With PostgreSQL out of reach, the answer comes from what was read of it before,
// and it says how old that is.
func (q *question) openFleet(ctx context.Context, dir string) (err error) {
	q.db, q.fleet, err = openFleetRecord(ctx, q.caller, q.arguments, dir)
	return err
}

// openFleetRecord is that for any command. The store is nil if PostgreSQL is out of reach.
func openFleetRecord(ctx context.Context, from caller, args *arguments, dir string) (*db.DB, *store.Store, error) {
	s, away := openFleet(ctx, args)
	var feed db.Feed
	if away == nil {
		if feed, away = newFeed(ctx, s); away != nil {
			s.Close()
			s, feed = nil, nil
		}
	}
	if _, wrong := errors.AsType[*usageError](away); wrong || errors.Is(away, store.ErrNotInitialised) || errors.Is(away, store.ErrOlder) || errors.Is(away, store.ErrNewer) {
		return nil, nil, away
	}
	if feed != nil {
		(&state.State{Dir: dir}).Prepare() // for the copy; where it cannot be made, the answer is made in memory
	}
	d, err := db.OpenFleet(dir, feed)
	if err != nil {
		if s != nil {
			s.Close()
		}
		return nil, nil, openTrouble(dir, err)
	}
	if feed != nil {
		_, away = d.Fold(ctx)
	}
	for _, text := range d.Said {
		from.say(text)
	}
	d.Said = nil
	if away == nil {
		return d, s, nil
	}
	at := d.Updated(ctx)
	if at.IsZero() {
		d.Close()
		if s != nil {
			s.Close()
		}
		return nil, nil, away
	}
	from.say(message.FleetAsOf(away, at.Local().Format(time.DateTime), term.Span(time.Since(at))))
	return d, s, nil
}

// machineColumn is in the tables of a fleet.
var machineColumn = term.Column{Heading: "MACHINE", Kind: term.Path, Min: 6}

// withMachine has the column of machines behind the first.
func withMachine(columns []term.Column) []term.Column {
	columns = slices.Insert(slices.Clone(columns), 1, machineColumn)
	for i := range columns {
		if redundant := columns[i].Redundant; redundant != nil {
			columns[i].Redundant = func(row []string) bool { return redundant(slices.Delete(slices.Clone(row), 1, 2)) }
		}
	}
	return columns
}
