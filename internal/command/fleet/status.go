package fleet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/fleet/status"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/term"
)

// machineTable are the machines of a fleet.
var machineTable = []term.Column{{Heading: "MACHINE", Kind: term.Path}, {Heading: "STATE", Kind: term.Whole}, table.Number("SEEN", 0), table.Number("JOBS", 1), table.Number("CLOCK", 2),
	{Heading: "VERSION", Drop: 3}, {Heading: "LABELS", Drop: 4}}

// machineJSON is a machine for programs. Fields are only ever added.
type machineJSON struct {
	Name       string    `json:"name"`
	State      string    `json:"state"`
	Joined     time.Time `json:"joined"`
	SeenAgo    float64   `json:"seen_seconds_ago"`
	ClockAhead float64   `json:"clock_ahead_seconds"`
	Version    string    `json:"version"`
	Labels     []string  `json:"labels"`
	Generation int64     `json:"generation"`
	Jobs       int       `json:"jobs"` // in progress
}

// machineState is the word for how a machine is.
func machineState(m *store.Machine) string {
	switch {
	case m.Left:
		return "left"
	case m.Away():
		return "away"
	case m.Draining:
		return "draining"
	}
	return "joined"
}

// Status is belay fleet status.
func Status(ctx context.Context, r *request.Request) (int, error) {
	return inFleet(ctx, r, func(s *store.Store) error {
		machines, err := s.Machines(ctx)
		if err != nil {
			return err
		}
		jobs, err := s.UnderWay(ctx)
		if err != nil {
			return err
		}
		found := []machineJSON{}
		var rows [][]term.Piece
		for _, m := range machines {
			ahead := "–"
			if m.Ahead.Abs() >= time.Second {
				ahead = printable.Span(m.Ahead.Abs())
			}
			if m.Ahead <= -time.Second {
				ahead = "-" + ahead
			}
			found = append(found, machineJSON{m.Name, machineState(&m), m.Joined.UTC(), m.Silent.Seconds(), m.Ahead.Seconds(), m.Version, m.Labels, m.Generation, jobs[m.Name]})
			rows = append(rows, term.Cells(m.Name, machineState(&m), printable.Span(m.Silent), table.NonZero(int64(jobs[m.Name])), ahead, m.Version, strings.Join(m.Labels, ",")))
		}
		none := fmt.Sprintf("no machine has joined the fleet at %s; on each machine, run: belay fleet join", s.Address.Text)
		if err := list(r, found, none, machineTable, rows); err != nil || r.On("json") {
			return err
		}
		if n := jobs[""]; n > 0 {
			term.Line(r.Out, fmt.Sprintf("%s %s for a machine", message.Count(n, "job"), message.Verb(n, "waits", "wait")))
		}
		_, limits, err := status.Gates(ctx, s, nil)
		overview.SayLimits(r.Out, limits)
		return err
	})
}
