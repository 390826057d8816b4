package cli

import "github.com/spf13/cobra"

func newDoctor() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look whether everything is as it should be, and say how to mend it",
		Example: `  belay doctor
  belay doctor --json`,
		Long: `Looks at the CLIs (where they are, their versions and whether Belay is tested with them, whether they
are logged in), settings, state directory, record, leftovers of killed runs, gates that hold, clock
and disk. It changes nothing and asks nobody outside. What is wrong comes with what to type. The
exit code is 0 if nothing is wrong, 1 otherwise.`,
		Args: noArgs,
	}
	cmd.Flags().Bool("json", false, "as JSON, one finding a line")
	cmd.RunE = askCompanion("doctor")
	return cmd
}
