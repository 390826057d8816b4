package help

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
)

// groups are the headings of flags in their order: those that only this command has, those of settings, and the rest.
func groups(flags *pflag.FlagSet) (own []string) {
	known := slices.Concat(config.Groups, []string{"", belayd.Filters})
	flags.VisitAll(func(f *pflag.Flag) {
		if group := groupOf(f); !slices.Contains(known, group) && !slices.Contains(own, group) {
			own = append(own, group)
		}
	})
	return append(own, known...)
}

// groupOf is the heading of a flag; empty for the usual one.
func groupOf(f *pflag.Flag) string { return strings.Join(f.Annotations[command.GroupKey], "") }

// AddFlags gives every command its -h. cobra would add one by itself, in other words.
func AddFlags(cmd *cobra.Command) {
	if cmd.Flags().Lookup("help") == nil {
		cmd.Flags().BoolP("help", "h", false, "show this help")
	}
	for _, c := range cmd.Commands() {
		AddFlags(c)
	}
}

// flagRows are the flags of a group.
func flagRows(flags *pflag.FlagSet, group string) (rows []row) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || groupOf(f) != group {
			return
		}
		name := "--" + f.Name
		switch f.Shorthand {
		case "":
		case f.Name:
			name = "-" + f.Name
		default:
			name = "-" + f.Shorthand + ", " + name
		}
		if t := f.Value.Type(); t != "bool" && t != "" {
			name += strings.Replace(" "+t, " [", "[", 1)
		}
		rows = append(rows, row{name, f.Usage})
	})
	return rows
}
