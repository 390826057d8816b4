package command

import (
	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/message"
)

// FleetFlags are the flags of commands that can also show the whole fleet, which belayd does.
type FleetFlags struct {
	On  bool // the whole fleet is to be shown
	dsn string
}

// AddFleetFlags adds them to a command.
func AddFleetFlags(cmd *cobra.Command) *FleetFlags {
	f := &FleetFlags{}
	cmd.Flags().BoolVar(&f.On, "fleet", false, "show all machines of the fleet")
	cmd.Flags().Var(TextValue(&f.dsn, "DSN"), "dsn", "with --fleet: the fleet's PostgreSQL, as a URL or as key=value pairs, without a password (default: BELAY_FLEET_DSN, PGHOST …)")
	return f
}

// HandOver has belayd answer, if it is about the fleet.
func (f *FleetFlags) HandOver(cmd *cobra.Command, what string, asJSON bool, args ...string) (handed bool, err error) {
	if !f.On {
		if f.dsn != "" {
			return true, Usage(message.Error(message.NeedsFleet("--dsn")), "")
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
	return true, HandOver(cmd.Context(), Streams(cmd), what, append(append(passed, "--"), args...)...)
}
