package ps

import (
	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// completeRuns are the runs under way.
func completeRuns() (list []string) {
	runs, _ := command.RunsNow()
	for _, r := range runs {
		list = append(list, command.DescribeRun(r.ID, r.Command))
	}
	return list
}

// NewCancel makes belay cancel.
func NewCancel() *cobra.Command {
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
				term.Line(cmd.OutOrStdout(), message.Cancelled(printable.ShortID(r.ID), r.Command))
			}
			return nil
		},
	}
}
