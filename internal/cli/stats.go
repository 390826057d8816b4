package cli

import "github.com/spf13/cobra"

func newStats() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show success, attempts, waits, tokens and cost",
		Example: `  belay stats --since 7d
  belay stats --by model --since 2026-11-01
  belay stats --by class --profile claude
  belay stats --by day --csv > days.csv`,
		Long: `Adds up what is on record: how many runs ended and how many of them well, attempts, requests
made of the services, time waited, tokens and cost as the CLIs report them; and how often hooks
and MCP servers have failed (faults). Attempts and tokens count when the attempt ended, runs when
they did. Days are those of your time zone (TZ). In a bar, ░ is what failed.`,
		Args: noArgs,
	}
	f := cmd.Flags()
	addWord(f, "by", "WHAT", "day, profile, model or class (all but model; one of them, day, with --json and --csv)")
	f.Bool("csv", false, "as CSV")
	addNarrowing(f)
	addTimes(f)
	cmd.RunE = askCompanion("stats")
	return cmd
}
