package fleet

import (
	"context"
	"time"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/fleet/status"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/term"
)

// runsInFleet is inFleet for what needs the runs that are under way. It says which machines have not been heard of, so that what they are doing is not known.
func runsInFleet(ctx context.Context, r *request.Request, do func(*store.Store, []status.Run) error) (int, error) {
	return inFleet(ctx, r, func(s *store.Store) error {
		runs, err := status.Runs(ctx, s)
		if err != nil {
			return err
		}
		machines, err := s.Machines(ctx)
		if err != nil {
			return err
		}
		for _, m := range machines {
			if m.Away() && !m.Left {
				r.Say(message.FleetAway(m.Name, term.Span(m.Silent)))
			}
		}
		return do(s, runs)
	})
}

// psTable is the table of belay ps, with machines.
var psTable = []term.Column{table.Machine, {Heading: "ID", Kind: term.Whole, Style: term.Faint}, {Heading: "PID", Kind: term.Number, Drop: 2}, {Heading: "COMMAND", Kind: term.Path},
	{Heading: "LABELS", Drop: 1, Min: 10}, {Heading: "ELAPSED", Kind: term.Number}, {Heading: "STATE", Min: 38}}

// Ps is belay ps --fleet.
func Ps(ctx context.Context, r *request.Request) (int, error) {
	return runsInFleet(ctx, r, func(_ *store.Store, runs []status.Run) error {
		var rows [][]term.Piece
		for _, run := range runs {
			since := orNone(run.Started, func(t time.Time) string { return term.Span(time.Since(t)) })
			rows = append(rows, term.Cells(run.Machine, printable.ShortID(run.ID), run.PID, table.OneLine(run.Command, 100), label.Labels{Name: run.Name, Tags: run.Tags}.String(), since, overview.RunState(run.Record)))
		}
		return list(r, runs, message.NothingRunning(), psTable, rows)
	})
}
