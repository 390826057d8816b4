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
func (q *question) openFleet(ctx context.Context) error {
	var lines db.Feed
	var away error
	if q.fleet, away = openFleet(ctx, q.arguments); away == nil {
		var logs *feed
		if logs, away = newFeed(ctx, q.fleet); away == nil {
			lines = logs
		}
	}
	if _, wrong := errors.AsType[*usageError](away); wrong || errors.Is(away, store.ErrNotInitialised) || errors.Is(away, store.ErrOlder) || errors.Is(away, store.ErrNewer) {
		return away
	}
	if lines != nil {
		q.state.Prepare() // for the copy; where it cannot be made, the answer is made in memory
	}
	var err error
	if q.db, err = db.OpenFleet(q.state.Dir, lines); err != nil {
		return openTrouble(q.state.Dir, err)
	}
	if lines != nil {
		_, away = q.db.Fold(ctx)
	}
	q.sayOf(q.db)
	if away == nil {
		return nil
	}
	at := q.db.Updated(ctx)
	if at.IsZero() {
		return away
	}
	q.say(message.FleetAsOf(away, at.Local().Format(time.DateTime), term.Span(time.Since(at))))
	return nil
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
