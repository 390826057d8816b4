package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

func newPs() *cobra.Command {
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
			rows = append(rows, term.Cells(command.ShortID(r.ID), pid, r.Command, label.Labels{Name: r.Name, Tags: r.Tags}.String(), since, term.Styled(runStyle(r), detached.stateOf(r))))
		}
		for _, h := range over {
			rows = append(rows, term.Cells(command.ShortID(h.ID), "", h.Command, h.Name, term.Span(h.Ended.Sub(h.Started)),
				term.Styled(term.Warning, fmt.Sprintf("ended with exit code %d; output not yet shown", h.ExitCode))))
		}
		return term.Table(w, psTable, rows)
	}
	return cmd
}

// stateKilled is the state of a run whose belay was killed and of which processes are left.
const stateKilled = supervise.StateKilled

// reapLeft ends what killed belays have left behind.
func reapLeft(w, stderr io.Writer, records supervise.Records) error {
	report := records.Killed
	records.Killed = func(r supervise.Record) bool {
		ok := report(r)
		if ok {
			sayKilled(stderr, r)
		}
		return ok
	}
	ended, err := records.ReclaimAll()
	if err != nil {
		return command.Fail(err)
	}
	if len(ended) == 0 {
		term.Line(w, "nothing was left running")
	}
	for _, p := range ended {
		term.Line(w, message.Ended(p.String()))
	}
	return nil
}

// sayKilled says that a run was killed, and where its story is.
func sayKilled(w io.Writer, r supervise.Record) {
	if r.IsRun() { // others have none
		command.Say(w, message.WasKilled(command.ShortID(r.ID), r.Command))
	}
}

// stateOf says what a run does now.
func stateOf(r supervise.Record) string {
	if r.State == stateKilled {
		if len(r.Left) == 0 { // its record could not be dealt with
			return stateKilled
		}
		return message.KilledState(command.ProcNames(r.Left))
	}
	return overview.RunState(r)
}

// runStyle is the style of that.
func runStyle(r supervise.Record) term.Style {
	switch r.State {
	case stateKilled:
		return term.Bad
	case supervise.StateWaiting:
		return term.Warning
	}
	return term.Good
}

func newCancel() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID…",
		Short: "Stop runs of other belay processes",
		Example: `Find the id of a run, and stop it:
  belay ps
  belay cancel 1f0c9a3e`,
		Long: `Asks the belay process that owns a run to stop it, with everything it has started, as SIGTERM would: exit code 143, no retry.
The run says that it was cancelled, in its terminal, its result and the log. An ID is
the whole id, or as much of its beginning or end as is unique.`,
		ValidArgsFunction: command.Complete(completeRuns),
		Args:              command.Needs(1, 0, "run", "belay cancel 1f0c9a3e (belay ps has the ids)"),
		RunE: func(cmd *cobra.Command, ids []string) error {
			runs, err := command.RunsNow()
			if err != nil {
				return err
			}
			for _, id := range ids {
				r, err := command.PickRun(runs, id)
				if err != nil {
					return err
				}
				if err := r.RequestStop(supervise.StopRequest{By: "belay cancel"}); err != nil {
					return command.Fail(message.Error(message.CannotCancel(r.Owner.PID, err), err))
				}
				term.Line(cmd.OutOrStdout(), message.Cancelled(command.ShortID(r.ID), r.Command))
			}
			return nil
		},
	}
}
