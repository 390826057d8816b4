package cli

import "github.com/spf13/cobra"

func newLog() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log [flags] [RUN]",
		Short: "Show what was run, or the whole story of one run",
		Example: `  belay log
  belay log --class failed --since 2h
  belay log 1f0c9a3e
  belay log --follow --attempts
  belay log --profile claude --since 2026-11-01 --until 2026-11-08 --json`,
		Long: `Shows a line a run, the newest last: when it ended, what it was, what became of it, after how many
attempts and waits. With a RUN (its id, or the beginning or end of it) all that is on record of
it: every attempt, why it failed, what was waited for.`,
		ValidArgsFunction: completed(completePast),
		Args:              needs(0, 1, "run", "belay log 1f0c9a3e"),
	}
	f := cmd.Flags()
	addCount(f, "20")
	f.BoolP("follow", "f", false, "go on with what comes, until Ctrl-C")
	f.Bool("attempts", false, "a line an attempt, as in the log")
	addWord(f, "session", "ID", "only runs of this session")
	addWord(f, "invocation", "RUN", "the story of this run")
	addNarrowing(f)
	addTimes(f)
	cmd.RunE = askCompanion("log")
	return cmd
}
