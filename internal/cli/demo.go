package cli

import "github.com/spf13/cobra"

func newDemo() *cobra.Command {
	return &cobra.Command{
		Use:     "demo",
		Short:   "See a limit, a wait, a success and a circuit breaker in half a minute",
		Example: "  belay demo",
		Long: `Runs belay a few times against a stand-in for an API that fails on purpose. Everything shown
really happens, on loopback; nothing has to be installed, no key is needed, nothing is spent.
Times are short, and the record is kept apart from yours.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runCompanion(cmd.Context(), stdioOf(cmd), "demo") },
	}
}
