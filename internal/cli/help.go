package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
)

// help shows before it explains: examples, then what the command does, then its flags. No line is longer than [helpWidth].
func help(cmd *cobra.Command, _ []string) {
	w := cmd.OutOrStdout()
	if cmd.Example != "" {
		term.Text(w, cmd.Example+"\n\n")
	}
	term.Text(w, wrap(cmp.Or(cmd.Long, cmd.Short+"."))+"\n\nUsage:\n  "+cmd.UseLine()+"\n")
	if cmd.HasAvailableSubCommands() {
		var rows []row
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				rows = append(rows, row{c.Name(), c.Short})
			}
		}
		printRows(w, "Commands", 12, rows)
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

// newHelp is belay help.
func newHelp(root *cobra.Command) *cobra.Command {
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

// addHelpFlags gives every command its -h. cobra would add one by itself, in other words.
func addHelpFlags(cmd *cobra.Command) {
	if cmd.Flags().Lookup("help") == nil {
		cmd.Flags().BoolP("help", "h", false, "show this help")
	}
	for _, c := range cmd.Commands() {
		addHelpFlags(c)
	}
}

// row is a word and what it means.
type row struct{ word, text string }

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

// printRows prints a heading and the rows below it, if there are any. The texts begin in one column, behind words of that width.
func printRows(w io.Writer, heading string, width int, rows []row) {
	if len(rows) == 0 {
		return
	}
	term.Printf(w, "\n%s:\n", heading)
	term.Text(w, layRows(width, rows))
}

func layRows(width int, rows []row) string {
	var b strings.Builder
	for _, r := range rows {
		word := r.word
		if len([]rune(word)) > width {
			fmt.Fprintf(&b, "  %s\n", word)
			word = ""
		}
		for _, line := range breakLines(r.text, helpWidth-width-3) {
			fmt.Fprintf(&b, "  %-*s %s\n", width, word, line)
			word = ""
		}
	}
	return b.String()
}

// helpWidth is how long lines of help may be: what the narrowest usual terminal shows.
const helpWidth = 80

// wrap breaks the lines of a text anew. Lines that are indented stay as they are.
func wrap(text string) string {
	var lines, paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			lines = append(lines, breakLines(strings.Join(paragraph, " "), helpWidth)...)
			paragraph = nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && line[0] != ' ' {
			paragraph = append(paragraph, line)
			continue
		}
		flush()
		lines = append(lines, line)
	}
	flush()
	return strings.Join(lines, "\n")
}

// breakLines breaks a text into lines of at most that many characters. A word that is longer gets a line of its own.
func breakLines(text string, width int) (lines []string) {
	line, length := "", 0
	for word := range strings.FieldsSeq(text) {
		n := len([]rune(word))
		if length > 0 && length+1+n > width {
			lines = append(lines, line)
			line, length = "", 0
		}
		if length > 0 {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+n
	}
	return append(lines, line)
}

// ExitMeaning says what an exit code means.
type ExitMeaning struct{ Code, Meaning string }

// ExitCodes are the exit codes of belay run as help and documentation explain them.
func ExitCodes() []ExitMeaning {
	return []ExitMeaning{
		{"the command's", "on success, and always when the command ended by itself; death by signal n is 128+n, and a 0 that is not true (see --fail-on) is 1"},
		{strconv.Itoa(engine.CodeUsage), "wrong use of belay; nothing was started"},
		{strconv.Itoa(engine.CodeTryLater), "try later: a limit, retries used up, or a gate, scope or budget that is closed. A plain command whose retries are used up keeps its own code, and so does every command with --max-retries 0"},
		{strconv.Itoa(engine.CodePersonMustAct), "credentials or billing: a person must act. The same commands keep their own code"},
		{strconv.Itoa(engine.CodeTimeout), "--timeout, --total-timeout or --stall-timeout"},
		{strconv.Itoa(engine.CodeFailed), "belay itself failed"},
		{strconv.Itoa(engine.CodeNotExecutable) + ", " + strconv.Itoa(engine.CodeNotFound), "the command is not executable, was not found"},
		{"130, 143", "interrupted, terminated"},
	}
}
