package cli

import "github.com/spf13/cobra"

func newPrune() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prune (--older-than T | --max-size SIZE)",
		Short: "Forget what is old on record",
		Example: `  belay prune --older-than 90d
  belay prune --max-size 500MB
  belay prune --older-than 2026-01-01 --dry-run`,
		Long: `Forgets runs, events, alerts, sessions and their files that are older than that, or the oldest until
the record is small enough. A log that is old is moved aside at first, and removed by a later
call when all in it is that old and has been taken over into the database; what has not been is
never removed.`,
		Args: noArgs,
	}
	f := cmd.Flags()
	addWord(f, "older-than", "T", "an age or a day: 90d, 2026-01-01")
	addWord(f, "max-size", "SIZE", "what the record may take on the disk: 500MB, 2GB")
	f.Bool("dry-run", false, "say what would be forgotten")
	f.Bool("json", false, "as JSON")
	cmd.RunE = askCompanion("prune")
	return cmd
}
