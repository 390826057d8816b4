// Package help is belay help: how help is laid out, and the topics that no command explains.
package help

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
)

// Show shows before it explains: examples, then what the command does, then its flags. No line is longer than [helpWidth].
func Show(cmd *cobra.Command, _ []string) {
	w := cmd.OutOrStdout()
	if cmd.Example != "" {
		term.Text(w, cmd.Example+"\n\n")
	}
	term.Text(w, wrap(cmp.Or(cmd.Long, cmd.Short+"."))+"\n\nUsage:\n  "+cmd.UseLine()+"\n")
	if cmd.HasAvailableSubCommands() {
		commandRows(cmd, func(heading string, rows []row) { printRows(w, heading, 14, rows) })
	}
	if !cmd.HasParent() {
		var rows []row
		for _, t := range topics {
			rows = append(rows, row{t.name, t.short})
		}
		printRows(w, "Topics", 12, rows)
	}
	for _, group := range groups(cmd.LocalFlags()) {
		printRows(w, cmp.Or(group, "Flags"), 26, flagRows(cmd.LocalFlags(), group))
	}
	switch {
	case !cmd.HasParent():
		term.Text(w, "\nFor more, run: belay COMMAND --help, or: belay help TOPIC\n")
	case cmd.HasAvailableSubCommands():
		term.Printf(w, "\nFor more, run: %s COMMAND --help\n", cmd.CommandPath())
	}
}

// New is belay help.
func New(root *cobra.Command) *cobra.Command {
	return &cobra.Command{Use: "help [COMMAND | TOPIC]", Short: "Show the help of a command, or explain a topic",
		Example: `Show the help of a command:
  belay help run
Explain the exit codes:
  belay help exit-codes`,
		ValidArgsFunction: completeHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if t := findTopic(args); t != nil && t.text != nil {
				return term.Text(cmd.OutOrStdout(), t.text())
			} else if t != nil {
				args = []string{t.name}
			}
			found, rest, err := root.Find(args)
			switch {
			case err != nil:
				return command.Usage(err, message.See("belay --help"))
			case len(rest) > 0 && found == root:
				return notHelp(root, rest[0])
			case len(rest) > 0 && found.HasAvailableSubCommands():
				return command.NoArgs(found, rest)
			}
			return found.Help()
		}}
}

// completeHelp offers commands, and for the first argument also topics.
func completeHelp(cmd *cobra.Command, args []string, _ string) (list []string, _ cobra.ShellCompDirective) {
	found, _, err := cmd.Root().Find(args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, c := range found.Commands() {
		if c.IsAvailableCommand() {
			list = append(list, cobra.CompletionWithDesc(c.Name(), c.Short))
		}
	}
	for _, t := range topics {
		if len(args) == 0 && t.text != nil {
			list = append(list, cobra.CompletionWithDesc(t.name, t.short))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// notHelp answers a word after belay help that is neither a command nor a topic.
func notHelp(root *cobra.Command, word string) error {
	err := message.Error(fmt.Sprintf("there is no command or topic %q", word))
	names := command.CommandsOf(root)
	for _, t := range topics {
		names = append(names, t.name)
	}
	if near := command.Suggest(word, names); len(near) > 0 {
		return command.Usage(err, message.DidYouMeanCommand("belay help", near))
	}
	return command.Usage(err, message.See("belay --help"))
}
