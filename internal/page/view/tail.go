package view

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/look"
	"github.com/belay-run/belay/internal/look/viewer"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/supervise"
)

// Tail returns what a run that is under way prints, its last lines first. The channel is closed when the run has ended, or the context.
func (s *Source) Tail(ctx context.Context, id string) (<-chan look.Line, error) {
	if !s.underWay(id) {
		return nil, os.ErrNotExist
	}
	l, err := viewer.Listen(s.State.Looks(), id)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	lines := make(chan look.Line)
	go func() { // a run that prints nothing does not connect, and ends without a word
		defer cancel()
		for s.underWay(id) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
		}
	}()
	go func() {
		defer close(lines)
		defer cancel()
		defer l.Close()
		for line, err := range l.Lines(ctx) {
			if err != nil {
				return
			}
			select {
			case lines <- line:
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines, nil
}

// underWay reports whether a run is.
func (s *Source) underWay(id string) bool {
	runs, _ := overview.Runs(s.State.Records())
	return slices.ContainsFunc(runs, func(r supervise.Record) bool { return r.ID == id })
}
