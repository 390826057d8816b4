//go:build !norecord

package companion

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/fleet/member"
	"github.com/belay-run/belay/internal/fleet/merge"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// fleetRun is a run under way somewhere in the fleet, for programs too. Its times are those of this machine's clock.
type fleetRun struct {
	Machine string `json:"machine"`
	member.Run
}

// fleetRuns are the runs that are under way.
func fleetRuns(ctx context.Context, s *store.Store) (list []fleetRun, err error) {
	ahead, err := s.Ahead(ctx)
	if err != nil {
		return nil, err
	}
	runs, err := s.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		one := fleetRun{Machine: r.Machine}
		if json.Unmarshal(r.Record, &one.Run) != nil {
			continue
		}
		for _, t := range []*time.Time{&one.Started, &one.Until, &one.Since} {
			if !t.IsZero() {
				*t = t.Add(ahead)
			}
		}
		list = append(list, one)
	}
	return list, nil
}

// runsInFleet is inFleet for what needs the runs that are under way. It says which machines have not been heard of, so that what they are doing is not known.
func runsInFleet(ctx context.Context, from caller, args *arguments, do func(*store.Store, []fleetRun) error) (int, error) {
	return inFleet(ctx, args, func(s *store.Store) error {
		runs, err := fleetRuns(ctx, s)
		if err != nil {
			return err
		}
		machines, err := s.Machines(ctx)
		if err != nil {
			return err
		}
		for _, m := range machines {
			if m.Away() && !m.Left {
				from.say(message.FleetAway(m.Name, term.Span(m.Silent)))
			}
		}
		return do(s, runs)
	})
}

// fleetPsTable is the table of belay ps, with machines.
var fleetPsTable = []term.Column{machineColumn, {Heading: "ID", Kind: term.Whole, Style: term.Faint}, {Heading: "PID", Kind: term.Number, Drop: 2}, {Heading: "COMMAND", Kind: term.Path},
	{Heading: "LABELS", Drop: 1, Min: 10}, {Heading: "ELAPSED", Kind: term.Number}, {Heading: "STATE", Min: 38}}

// fleetPsCommand is belay ps --fleet.
func fleetPsCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	return runsInFleet(ctx, from, args, func(_ *store.Store, runs []fleetRun) error {
		var rows [][]term.Piece
		for _, r := range runs {
			since := orNone(r.Started, func(t time.Time) string { return term.Span(time.Since(t)) })
			rows = append(rows, term.Cells(r.Machine, shortID(r.ID), r.PID, oneLine(r.Command, 100), label.Labels{Name: r.Name, Tags: r.Tags}.String(), since, overview.RunState(r.Record)))
		}
		return fleetList(from, args, runs, message.NothingRunning(), fleetPsTable, rows)
	})
}

// fleetGates are the gates that are not healthy, with the runs that wait at them, and what is known of the limits of accounts.
func fleetGates(ctx context.Context, s *store.Store, runs []fleetRun) ([]overview.Gate, []overview.Limit, error) {
	ahead, err := s.Ahead(ctx)
	if err != nil {
		return nil, nil, err
	}
	states, err := s.Gates(ctx)
	if err != nil {
		return nil, nil, err
	}
	var entries []gate.Entry
	for _, key := range slices.Sorted(maps.Keys(states)) {
		// Its times are those of this machine's clock.
		entries = append(entries, gate.Entry{Key: key, State: merge.Shifted(states[key].State, ahead)})
	}
	now := time.Now()
	records := make([]supervise.Record, len(runs))
	for i := range runs {
		records[i] = runs[i].Record
	}
	return overview.GatesOf(entries, now, records, func(i int) overview.Waiter {
		return overview.Waiter{ID: runs[i].ID, PID: runs[i].PID, Command: runs[i].Command, Machine: runs[i].Machine}
	}), overview.LimitsOf(entries, now), nil
}

// fleetGateTable is the table of belay gates.
var fleetGateTable = []term.Column{{Heading: "GATE", Kind: term.Path, Min: 12}, {Heading: "STATE", Kind: term.Whole}, {Heading: "SINCE", Kind: term.Whole, Drop: 1},
	{Heading: "UNTIL", Kind: term.Whole}, {Heading: "WAITING", Kind: term.Number}, {Heading: "ON", Kind: term.Path, Drop: 2}, {Heading: "REASON", Kind: term.Note}}

// fleetGatesCommand is belay gates --fleet.
func fleetGatesCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	return runsInFleet(ctx, from, args, func(s *store.Store, runs []fleetRun) error {
		gates, _, err := fleetGates(ctx, s, runs)
		if err != nil {
			return err
		}
		now := time.Now()
		day := (&question{now: now}).clock
		var rows [][]term.Piece
		for _, g := range gates {
			state, since, until, reason := g.Columns(now)
			rows = append(rows, term.Cells(g.Key, state, orNone(since, day), orNone(until, day), len(g.Waiting), machinesOf(g.Waiting), oneLine(reason, 200)))
		}
		return fleetList(from, args, gates, message.GatesHealthy(), fleetGateTable, rows)
	})
}

// orNone shows a time, if there is one.
func orNone(t time.Time, show func(time.Time) string) string {
	if t.IsZero() {
		return ""
	}
	return show(t)
}

// machinesOf are the machines that runs wait on, the one with most first: "ant 3, bee 1".
func machinesOf(list []overview.Waiter) string {
	counts := map[string]int{}
	for _, w := range list {
		counts[w.Machine]++
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, counts[name])
	}
	return oneLine(strings.Join(names, ", "), 60)
}

// fleetBudgetTable has a row for each machine that has spent something.
var fleetBudgetTable = []term.Column{{Heading: "BUDGET", Kind: term.Path}, {Heading: "PERIOD", Kind: term.Whole}, machineColumn, {Heading: "SPENT", Kind: term.Number}, {Heading: "SHARE", Kind: term.Number},
	number("UNKNOWN", 1)}

// fleetBudgetCommand is belay budget --fleet.
func fleetBudgetCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	return inFleet(ctx, args, func(s *store.Store) error {
		list, err := s.Spending(ctx)
		if err != nil {
			return err
		}
		if len(args.rest) > 0 {
			list = slices.DeleteFunc(list, func(m store.MachineSpent) bool { return !slices.Contains(args.rest, m.Name) })
		}
		var rows [][]term.Piece
		for i, m := range list {
			if i == 0 || list[i-1].Name != m.Name {
				rows = append(rows, inAll(list[i:]))
			}
			rows = append(rows, term.Cells("", "", m.Machine, printable.Dollars(m.USD), printable.Dollars(m.Share), countText(int64(m.Unknown))))
		}
		return fleetList(from, args, list, message.NothingOnRecord("budgets"), fleetBudgetTable, rows)
	})
}

// inAll is the row of all machines, of the budget that a list begins with.
func inAll(list []store.MachineSpent) []term.Piece {
	sum := store.MachineSpent{}
	for _, m := range list {
		if m.Name == list[0].Name {
			sum.USD, sum.Share, sum.Unknown = sum.USD+m.USD, sum.Share+m.Share, sum.Unknown+m.Unknown
		}
	}
	return term.Cells(oneLine(list[0].Name, 60), list[0].Period, "all", printable.Dollars(sum.USD), printable.Dollars(sum.Share), countText(int64(sum.Unknown)))
}
