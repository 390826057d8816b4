package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// recordCommands are those that look at the record. What they mean is belayd's business; here they have their names, flags
// and help.
func recordCommands() []*cobra.Command {
	return []*cobra.Command{newLog(), newEvents(), newStats(), newSessions(), newAlerts(), newAudit(), newPrune(), newDoctor()}
}

// addTimes adds the flags of all commands that look at the past.
func addTimes(f *pflag.FlagSet) {
	addWord(f, "since", "T", "from then on: 2h, 7d, 14:30, yesterday, 2026-11-01, 2026-11-01T14:30:00Z")
	addWord(f, "until", "T", "before then, as --since")
	f.Bool("json", false, "as JSON, one object a line")
}

// addCount adds -n.
func addCount(f *pflag.FlagSet, usual string) {
	f.VarP(&textFlag{&usual, "N"}, "n", "n", "how many, the newest ("+usual+"); 0 for all")
}

// addNarrowing adds the flags that choose among runs.
func addNarrowing(f *pflag.FlagSet) {
	addWord(f, "profile", "NAME", "only runs of this profile")
	addWord(f, "class", "CLASS", "only this class of result; failed means every one but ok")
}

// askCompanion passes the flags that were given, and the arguments, on to belayd.
func askCompanion(name string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		var passed []string
		cmd.Flags().Visit(func(f *pflag.Flag) { passed = append(passed, "--"+f.Name+"="+f.Value.String()) })
		return runCompanion(cmd.Context(), stdioOf(cmd), name, append(append(passed, "--"), args...)...)
	}
}
