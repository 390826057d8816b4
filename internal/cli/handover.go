package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/command"
)

// handedOver are the commands that belayd carries out. belayd knows what they mean; here they have their names, flags
// and help, from the table that both share.
func handedOver() (list []*cobra.Command) {
	parents := map[string]*cobra.Command{}
	for _, c := range belayd.Commands() {
		var cmd *cobra.Command
		switch {
		case c.Hidden:
			continue
		case c.Name == belayd.Rehearse:
			cmd = newRehearse(c)
		case c.Parent:
			cmd = &cobra.Command{Use: c.Use, Short: c.Summary, Example: c.Examples, Long: c.Long, Args: command.NoArgs, RunE: command.OnlyHelp} // only shows what is below it
			parents[c.Name] = cmd
		default:
			cmd = newHandedOver(c)
		}
		if at := strings.LastIndex(c.Name, " "); at > 0 {
			parents[c.Name[:at]].AddCommand(cmd)
		} else {
			list = append(list, cmd)
		}
	}
	return list
}

// newHandedOver makes a command that passes the flags that were given, and the arguments, on to belayd.
func newHandedOver(c belayd.Command) *cobra.Command {
	cmd := &cobra.Command{Use: c.Use, Short: c.Summary, Example: c.Examples, Long: c.Long, Args: command.NoArgs}
	if c.Args.What != "" {
		cmd.Args = command.Needs(0, 1, c.Args.What, c.Args.Example)
	}
	if c.Args.What == "run" {
		cmd.ValidArgsFunction = command.Complete(completePast)
	}
	addFlags(cmd, c)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.HandOver(cmd.Context(), command.Streams(cmd), c.Name, append(append(givenFlags(cmd, c), "--"), args...)...)
	}
	return cmd
}

// addFlags adds the flags of the table, and what they can be completed with.
func addFlags(cmd *cobra.Command, c belayd.Command) {
	cmd.Flags().SortFlags = false
	for _, f := range c.Flags {
		switch {
		case f.Hidden:
			continue
		case f.Several:
			cmd.Flags().Var(&textsFlag{kind: f.Arg}, f.Name, f.Help)
		case f.Arg == "":
			cmd.Flags().BoolP(f.Name, f.Short, false, f.Help)
		default:
			value := f.Default
			cmd.Flags().VarP(command.TextValue(&value, f.Arg), f.Name, f.Short, f.Help)
		}
		if f.Group != "" {
			cmd.Flags().SetAnnotation(f.Name, command.GroupKey, []string{f.Group})
		}
		if f.Values != nil {
			cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(f.Values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

// givenFlags are the flags of the table that were given, to be passed on.
func givenFlags(cmd *cobra.Command, c belayd.Command) (passed []string) {
	for _, f := range c.Flags {
		if given := cmd.Flags().Lookup(f.Name); !f.Hidden && given.Changed {
			passed = append(passed, "--"+f.Name+"="+given.Value.String())
		}
	}
	return passed
}
