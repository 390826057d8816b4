package handover

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/command"
)

// textsFlag is one that may be repeated, and whose values are joined by commas.
type textsFlag struct {
	values []string
	kind   string
}

func (f *textsFlag) String() string     { return strings.Join(f.values, ",") }
func (f *textsFlag) Type() string       { return f.kind }
func (f *textsFlag) Set(v string) error { f.values = append(f.values, v); return nil }

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
