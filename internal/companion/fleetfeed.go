//go:build !norecord

package companion

import (
	"context"
	"time"

	"github.com/belay-run/belay/internal/companion/db"
	"github.com/belay-run/belay/internal/companion/fleet/store"
)

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

func (f *feed) Files(ctx context.Context) (list []db.FeedFile, err error) {
	positions, err := f.store.LogPositions(ctx, "")
	for _, p := range positions {
		list = append(list, db.FeedFile{Machine: p.Machine, Identity: p.Identity, Edition: p.Edition, To: p.Position})
	}
	return list, err
}

func (f *feed) Lines(ctx context.Context, from []db.FeedFile) ([]db.FeedLines, error) {
	asked := make([]store.LogPosition, len(from))
	for i, file := range from {
		asked[i] = store.LogPosition{Machine: file.Machine, Identity: file.Identity, Edition: file.Edition, Position: file.From}
	}
	lines, next, err := f.store.LogLines(ctx, asked, feedLines)
	if err != nil {
		return nil, err
	}
	list := make([]db.FeedLines, len(from))
	for i := range list {
		if list[i].To = next[i]; next[i] < 0 {
			list[i].To = from[i].To
		}
		for _, l := range lines[i] {
			list[i].Lines = append(list[i].Lines, db.FeedLine{Text: l.Text, Ahead: l.Ahead})
		}
	}
	return list, nil
}
