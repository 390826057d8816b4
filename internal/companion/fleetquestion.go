//go:build !norecord

package companion

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/record"
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
	var lines record.Feed
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
	if q.db, err = record.OpenFleet(q.state.Dir, lines); err != nil {
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

// feedLines is how many lines of a file are read at a time.
const feedLines = 2500

// feed is the logs of a fleet, for the record.
type feed struct {
	store    *store.Store
	settings store.Settings
}

// newFeed asks a fleet for what has to be known of its logs.
func newFeed(ctx context.Context, s *store.Store) (*feed, error) {
	settings, err := s.Settings(ctx)
	return &feed{s, settings}, err
}

func (f *feed) ID() string          { return f.settings.ID }
func (f *feed) Keep() time.Duration { return f.settings.Keep }

func (f *feed) Files(ctx context.Context) (list []record.FeedFile, err error) {
	positions, err := f.store.LogPositions(ctx, "")
	for _, p := range positions {
		list = append(list, record.FeedFile{Machine: p.Machine, Identity: p.Identity, Edition: p.Edition, To: p.Position})
	}
	return list, err
}

func (f *feed) Lines(ctx context.Context, from []record.FeedFile) ([]record.FeedLines, error) {
	asked := make([]store.LogPosition, len(from))
	for i, file := range from {
		asked[i] = store.LogPosition{Machine: file.Machine, Identity: file.Identity, Edition: file.Edition, Position: file.From}
	}
	lines, next, err := f.store.LogLines(ctx, asked, feedLines)
	if err != nil {
		return nil, err
	}
	list := make([]record.FeedLines, len(from))
	for i := range list {
		if list[i].To = next[i]; next[i] < 0 {
			list[i].To = from[i].To
		}
		for _, l := range lines[i] {
			list[i].Lines = append(list[i].Lines, record.FeedLine{Text: l.Text, Ahead: l.Ahead})
		}
	}
	return list, nil
}
