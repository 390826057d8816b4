// Package logs brings the logs of a fleet's machines, as they are in its PostgreSQL, into a record.
package logs

import (
	"context"
	"time"

	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/record"
)

// feedLines is how many lines of a file are read at a time.
const feedLines = 2500

// Feed is the logs of a fleet. It implements [record.Feed].
type Feed struct {
	store    *store.Store
	settings store.Settings
}

// NewFeed asks a fleet for what has to be known of its logs.
func NewFeed(ctx context.Context, s *store.Store) (*Feed, error) {
	settings, err := s.Settings(ctx)
	return &Feed{s, settings}, err
}

// ID implements [record.Feed].
func (f *Feed) ID() string { return f.settings.ID }

// Keep implements [record.Feed].
func (f *Feed) Keep() time.Duration { return f.settings.Keep }

// Files implements [record.Feed].
func (f *Feed) Files(ctx context.Context) (list []record.FeedFile, err error) {
	positions, err := f.store.LogPositions(ctx, "")
	for _, p := range positions {
		list = append(list, record.FeedFile{Machine: p.Machine, Identity: p.Identity, Edition: p.Edition, To: p.Position})
	}
	return list, err
}

// Lines implements [record.Feed].
func (f *Feed) Lines(ctx context.Context, from []record.FeedFile) ([]record.FeedLines, error) {
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
