package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/term"
)

// help shows before it explains: examples, then what it is, then the flags.
func help(cmd *cobra.Command, _ []string) {
	w := cmd.OutOrStdout()
	if cmd.Example != "" {
		term.Text(w, cmd.Example+"\n\n")
	}
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	term.Text(w, text+"\n\nUsage:\n  "+cmd.UseLine()+"\n")
	if cmd.HasAvailableSubCommands() {
		term.Printf(w, "\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				term.Printf(w, "  %-12s %s\n", c.Name(), c.Short)
			}
		}
		term.Printf(w, "\n%s COMMAND --help says more of each.\n", cmd.CommandPath())
	}
	for _, group := range append(config.Groups, "") {
		heading := group
		if heading == "" {
			heading = "Flags"
		}
		printFlags(w, cmd.LocalFlags(), heading, group)
	}
}

// onlyHelp is what a command does that only has others below it.
func onlyHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// newHelp is belay help.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{Use: "help [command]", Short: "Show the help of a command", Example: "  belay help run",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			switch {
			case err != nil:
				return usage(err, "see: belay --help")
			case len(rest) > 0 && cmd == root:
				return notACommand(root, rest[0])
			case len(rest) > 0 && cmd.HasAvailableSubCommands():
				return noArgs(cmd, rest)
			}
			return cmd.Help()
		}}
}

// groupKey is the annotation that puts a flag under a heading.
const groupKey = "group"

func printFlags(w io.Writer, flags *pflag.FlagSet, heading, group string) {
	first := true
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || strings.Join(f.Annotations[groupKey], "") != group {
			return
		}
		if first {
			term.Printf(w, "\n%s:\n", heading)
			first = false
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
			name += " " + t
		}
		if len(name) > 26 {
			term.Printf(w, "  %s\n  %26s %s\n", name, "", f.Usage)
			return
		}
		term.Printf(w, "  %-26s %s\n", name, f.Usage)
	})
}
