package cli

import "github.com/spf13/cobra"

func newAudit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show failures by kind, and what was changed by hand",
		Example: `  belay audit --since 7d
  belay audit --action gate_reset
  belay audit --session 3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66 --json`,
		Long: `Shows who did what: failed runs, and errors that a Go program has handled, with type, category
(connection, sdk, unknown), severity (warning if it was worth repeating, else error), message and
context, and gates that a person has reset, held or opened, with the reason.`,
		Args: noArgs,
	}
	f := cmd.Flags()
	addCount(f, "50")
	addWord(f, "action", "ACTION", "only this: failure, gate_reset, gate_hold, gate_open")
	addWord(f, "session", "ID", "only this session")
	addNarrowing(f)
	addTimes(f)
	cmd.RunE = askCompanion("audit")
	return cmd
}
