package cli

import "github.com/spf13/cobra"

func newSessions() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions [ID]",
		Short: "Show the sessions of agents, how they ended and what they used",
		Example: `  belay sessions --since 7d
  belay sessions --status failed
  belay log --session 3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66`,
		Long: `Shows a line a session, the one used last at the end: status (running, done, failed, interrupted,
abandoned: a retry has begun another), runs, attempts, tokens and cost over all of them, and the
message if it failed. An ID may be the beginning or end of one. To go on with one: belay run --resume ID -- claude -p '…'`,
		Args: needs(0, 1, "session", "belay sessions 3f9c1a52"),
	}
	f := cmd.Flags()
	addCount(f, "50")
	addWord(f, "status", "STATUS", "only running, done, failed, interrupted or abandoned ones")
	addWord(f, "profile", "NAME", "only sessions of this profile")
	addTimes(f)
	cmd.RunE = askCompanion("sessions")
	return cmd
}
