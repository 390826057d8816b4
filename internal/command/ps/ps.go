// Package ps is belay ps and belay cancel: what runs, what a killed belay has left, and how a run is stopped.
package ps

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// The columns of the tables: see term.Column for what happens to them where a terminal is narrow.

var psTable = []term.Column{{Heading: "ID", Kind: term.Whole, Style: term.Faint}, {Heading: "PID", Kind: term.Number, Drop: 2}, {Heading: "COMMAND", Kind: term.Path},
	{Heading: "LABELS", Drop: 1, Min: 10}, {Heading: "ELAPSED", Kind: term.Number}, {Heading: "STATE", Min: 38}}

// New makes belay ps.
func New() *cobra.Command {
	var asJSON, reap bool
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "Show what is running and what is waiting",
		Example: `Show the runs of all terminals and scripts:
  belay ps
Stop what a killed belay has left running:
  belay ps --reap
Use it in a script:
  belay ps --json
Show the runs of all machines of a fleet:
  belay ps --fleet`,
		Long: `Shows the runs of all belay processes that share this state directory: what is running, what is waiting, for what and until when. It
also shows hooks that take a while, MCP servers, detached runs that have ended and whose output was not shown yet, and processes that a killed belay has left. Runs whose belay
was killed are put on record.

--reap stops what a killed belay has left: processes that carry the mark of a run whose belay is gone. The mark is BELAY_RUN_ID in their environment, or on
Linux a resource limit that stands for it. Nothing else is touched.`,
		Args: command.NoArgs,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	cmd.Flags().BoolVar(&reap, "reap", false, "stop what a killed belay has left running")
	fleet := command.AddFleetFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if reap && fleet.On {
			return command.Usage(message.Error(message.NotTogether("--reap", "--fleet")), "")
		}
		if handed, err := fleet.HandOver(cmd, belayd.FleetPs, asJSON); handed {
			return err
		}
		state, err := command.OpenState()
		if err != nil {
			return err
		}
		w := cmd.OutOrStdout()
		if reap {
			return reapLeft(w, cmd.ErrOrStderr(), state.Records())
		}
		killed, left, leftErr := overview.Left(state)
		if leftErr != nil {
			leftErr = command.Fail(leftErr)
		}
		for _, r := range killed {
			sayKilled(cmd.ErrOrStderr(), r)
		}
		runs, err := command.Runs(state.Records())
		if err = cmp.Or(err, leftErr); err != nil {
			return err
		}
		runs = append(runs, left...)
		headers, _ := state.Spools().List() // what cannot be read is not what is asked for where others are shown too
		detached := spooledRuns(headers)
		over := detached.over(runs)
		if slices.ContainsFunc(runs, func(r supervise.Record) bool { return r.State == stateKilled }) {
			command.Say(cmd.ErrOrStderr(), "a killed belay left processes running. To end them: belay ps --reap")
		}
		if asJSON {
			var list []any
			for _, r := range runs {
				list = append(list, overview.RunJSON(r, detached.has(r.ID)))
			}
			for _, h := range over {
				list = append(list, endedJSON(h))
			}
			return term.JSONLines(w, list)
		}
		if len(runs)+len(over) == 0 {
			term.Line(w, message.NothingRunning())
			return nil
		}
		var rows [][]term.Piece
		for _, r := range runs {
			since, pid := "", ""
			if !r.Started.IsZero() {
				since = term.Span(time.Since(r.Started))
			}
			if r.Owner.PID > 0 && r.State != stateKilled {
				pid = fmt.Sprint(r.Owner.PID)
			}
			rows = append(rows, term.Cells(printable.ShortID(r.ID), pid, r.Command, label.Labels{Name: r.Name, Tags: r.Tags}.String(), since, term.Styled(runStyle(r), detached.stateOf(r))))
		}
		for _, h := range over {
			rows = append(rows, term.Cells(printable.ShortID(h.ID), "", h.Command, h.Name, term.Span(h.Ended.Sub(h.Started)),
				term.Styled(term.Warning, fmt.Sprintf("ended with exit code %d; output not yet shown", h.ExitCode))))
		}
		return term.Table(w, psTable, rows)
	}
	return cmd
}
