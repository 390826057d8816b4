package fleet

import (
	"context"
	"slices"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/term"
)

// budgetTable has a row for each machine that has spent something.
var budgetTable = []term.Column{{Heading: "BUDGET", Kind: term.Path}, {Heading: "PERIOD", Kind: term.Whole}, table.Machine, {Heading: "SPENT", Kind: term.Number}, {Heading: "SHARE", Kind: term.Number},
	table.Number("UNKNOWN", 1)}

// Budget is belay budget --fleet.
func Budget(ctx context.Context, r *request.Request) (int, error) {
	return inFleet(ctx, r, func(s *store.Store) error {
		spent, err := s.Spending(ctx)
		if err != nil {
			return err
		}
		if len(r.Rest) > 0 {
			spent = slices.DeleteFunc(spent, func(m store.MachineSpent) bool { return !slices.Contains(r.Rest, m.Name) })
		}
		var rows [][]term.Piece
		for i, m := range spent {
			if i == 0 || spent[i-1].Name != m.Name {
				rows = append(rows, inAll(spent[i:]))
			}
			rows = append(rows, term.Cells("", "", m.Machine, printable.Dollars(m.USD), printable.Dollars(m.Share), table.NonZero(int64(m.Unknown))))
		}
		return list(r, spent, message.NothingOnRecord("budgets"), budgetTable, rows)
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
	return term.Cells(table.OneLine(list[0].Name, 60), list[0].Period, "all", printable.Dollars(sum.USD), printable.Dollars(sum.Share), table.NonZero(int64(sum.Unknown)))
}
