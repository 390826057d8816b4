package cli

import (
	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/message"
)

// fleetFlags are the flags of commands that can also show the whole fleet, which belayd does.
type fleetFlags struct {
	on  bool
	dsn string
}

func addFleetFlags(cmd *cobra.Command) *fleetFlags {
	f := &fleetFlags{}
	cmd.Flags().BoolVar(&f.on, "fleet", false, "show all machines of the fleet (docs/fleet.md)")
	cmd.Flags().Var(&textFlag{&f.dsn, "DSN"}, "dsn", "with --fleet: the fleet's PostgreSQL, as a URL or as key=value pairs, without a password (default: BELAY_FLEET_DSN, PGHOST …)")
	return f
}

// handOver has belayd answer, if it is about the fleet.
func (f *fleetFlags) handOver(cmd *cobra.Command, what string, asJSON bool, args ...string) (handed bool, err error) {
	if !f.on {
		if f.dsn != "" {
			return true, usage(message.Error(message.NeedsFleet("--dsn")), "")
		}
		return false, nil
	}
	var passed []string
	if asJSON {
		passed = append(passed, "--json=true")
	}
	if f.dsn != "" {
		passed = append(passed, "--dsn="+f.dsn)
	}
	return true, runCompanion(cmd.Context(), stdioOf(cmd), what, append(append(passed, "--"), args...)...)
}
