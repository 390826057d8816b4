// Package fleet is belay fleet, with the commands of belay that show the whole fleet, and the courier of belay batch --fleet.
package fleet

import (
	"context"
	"time"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/term"
)

// inFleet does something with the fleet that a command's flag or the environment names.
func inFleet(ctx context.Context, r *request.Request, do func(*store.Store) error) (int, error) {
	s, err := question.OpenFleet(ctx, r)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return 0, do(s)
}

// list writes what a command about the fleet has found: as JSON, or as a table with a row for each.
func list[T any](r *request.Request, found []T, none string, columns []term.Column, rows [][]term.Piece) error {
	switch {
	case r.On("json"):
		return term.JSONLines(r.Out, found)
	case len(found) == 0:
		return term.Line(r.Out, none)
	}
	return term.Table(r.Out, columns, rows)
}

// orNone shows a time, if there is one.
func orNone(t time.Time, show func(time.Time) string) string {
	if t.IsZero() {
		return ""
	}
	return show(t)
}
