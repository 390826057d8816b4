// Package limits is belay limits: how much of the limits of accounts is used.
package limits

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/term"
)

// New makes belay limits.
func New() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "limits",
		Short: "Show how much of the limits of accounts is used",
		Example: `Show each account and window, when it resets and where it leads:
  belay limits
Use it in a script:
  belay limits --json`,
		Long: `Agents tell with their answers how much of each limit of their account is used and when it resets: claude with a subscription, and codex. Belay keeps
that beside the account's gate, for all processes. What was never told, and what was told of a window that is over, is not shown.

A forecast is where the window leads if it is used as in the last hour. Details: https://github.com/belay-run/belay/blob/main/docs/limits.md`,
		Args: command.NoArgs,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := command.OpenState()
		if err != nil {
			return err
		}
		_, list, err := overview.Gates(s)
		switch {
		case err != nil:
			return command.Fail(err)
		case asJSON:
			return term.JSONLines(cmd.OutOrStdout(), list)
		case len(list) == 0:
			return term.Line(cmd.OutOrStdout(), "no agent has told of its limits yet. claude with a subscription and codex do, when they run under belay")
		}
		now := time.Now()
		var rows [][]term.Piece
		var bars []term.Bar
		for _, l := range list {
			bars = append(bars, term.Bar{Length: 1, Full: l.Used, Style: l.Style(), Rest: term.Faint})
			rows = append(rows, term.Cells(l.Account, l.Window, term.Styled(l.Style(), l.Percent()), message.TimeOfDay(l.Resets.Time, now), l.Leads(now)))
		}
		columns := []term.Column{{Heading: "ACCOUNT", Kind: term.Path, Min: 12}, {Heading: "WINDOW", Kind: term.Path, Min: 9}, {Heading: "USED", Kind: term.Number}, {Bars: bars},
			{Heading: "RESETS", Kind: term.Whole}, {Heading: "FORECAST", Kind: term.Whole, Drop: 1}}
		return term.Table(cmd.OutOrStdout(), columns, rows)
	}
	return cmd
}
