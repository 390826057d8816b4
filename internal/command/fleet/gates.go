package fleet

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/fleet/status"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/term"
)

// gateTable is the table of belay gates.
var gateTable = []term.Column{{Heading: "GATE", Kind: term.Path, Min: 12}, {Heading: "STATE", Kind: term.Whole}, {Heading: "SINCE", Kind: term.Whole, Drop: 1},
	{Heading: "UNTIL", Kind: term.Whole}, {Heading: "WAITING", Kind: term.Number}, {Heading: "ON", Kind: term.Path, Drop: 2}, {Heading: "REASON", Kind: term.Note}}

// Gates is belay gates --fleet.
func Gates(ctx context.Context, r *request.Request) (int, error) {
	return runsInFleet(ctx, r, func(s *store.Store, runs []status.Run) error {
		gates, _, err := status.Gates(ctx, s, runs)
		if err != nil {
			return err
		}
		now := time.Now()
		day := func(t time.Time) string { return question.Clock(t, now) }
		var rows [][]term.Piece
		for _, g := range gates {
			state, since, until, reason := g.Columns(now)
			rows = append(rows, term.Cells(g.Key, state, orNone(since, day), orNone(until, day), len(g.Waiting), machinesOf(g.Waiting), table.OneLine(reason, 200)))
		}
		return list(r, gates, message.GatesHealthy(), gateTable, rows)
	})
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
	return table.OneLine(strings.Join(names, ", "), 60)
}
