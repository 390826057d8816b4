//go:build !norecord

package companion

import (
	"context"
	"slices"

	"github.com/belay-run/belay/internal/companion/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/term"
)

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
