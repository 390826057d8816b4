package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
)

// What is said of a command line that makes no sense: what is wrong with it, and what to type instead.

// wrongFlag explains what pflag refuses, and names the flag that was probably meant.
func wrongFlag(cmd *cobra.Command, err error) error {
	see := message.See(cmd.CommandPath() + " --help")
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return usage(err, see)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near := suggest(unknown.GetSpecifiedName(), names); len(near) > 0 {
		see = "did you mean --" + strings.Join(near, ", --") + "? " + see
	}
	return usage(err, see)
}

// notACommand answers a word that stands where a command of belay should. A program is what is left out of `belay run --`, but
// many commands of a machine are a letter away from one of belay's: stat, top.
func notACommand(root *cobra.Command, word string) error {
	_, notThere := supervise.Look(word, "")
	near, hint := suggest(word, commandsOf(root)), message.See("belay --help")
	switch {
	case word == "version":
		hint = message.DidYouMeanCommand("belay", []string{"--version"})
	case len(near) > 0 && notThere == nil:
		hint = fmt.Sprintf("did you mean belay %s? To run the program: belay run -- %s", near[0], word)
	case notThere == nil:
		hint = "to run it: belay run -- " + word
	case len(near) > 0:
		hint = message.DidYouMeanCommand("belay", near)
	}
	return usage(message.Error(message.NoSuchCommand(word)), hint)
}

// notHelp answers a word after belay help that is neither a command nor a topic.
func notHelp(root *cobra.Command, word string) error {
	err := message.Error(fmt.Sprintf("there is no command or topic %q", word))
	names := commandsOf(root)
	for _, t := range topics {
		names = append(names, t.name)
	}
	if near := suggest(word, names); len(near) > 0 {
		return usage(err, message.DidYouMeanCommand("belay help", near))
	}
	return usage(err, message.See("belay --help"))
}

// suggest returns the names that were probably meant by a word, at most three: the one that it is a few letters away from, else those
// that it begins, else those that it is a part of, as retries is of max-retries.
func suggest(word string, names []string) (near []string) {
	if one := config.Nearest(word, names); one != "" {
		return []string{one}
	}
	word = strings.ToLower(word)
	for _, fits := range []func(string) bool{
		func(name string) bool { return len(word) > 1 && strings.HasPrefix(name, word) },
		func(name string) bool { return len(word) > 2 && slices.Contains(strings.Split(name, "-"), word) },
	} {
		for _, name := range names {
			if fits(name) && !slices.Contains(near, name) {
				near = append(near, name)
			}
		}
		if len(near) > 0 {
			break
		}
	}
	return near[:min(len(near), 3)]
}

// commandsOf are the names of the commands under cmd.
func commandsOf(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// noArgs refuses arguments. Where there are commands below, one is a mistyped command.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := commandsOf(cmd)
	if len(names) == 0 {
		return usage(message.Error(message.TakesNoArguments(cmd.CommandPath(), args[0])), message.See(cmd.CommandPath()+" --help"))
	}
	err := message.Error(fmt.Sprintf("%s has no command %q", cmd.CommandPath(), args[0]))
	if near := suggest(args[0], names); len(near) > 0 {
		return usage(err, message.DidYouMeanCommand(cmd.CommandPath(), near))
	}
	return usage(err, "the commands are "+message.And(names))
}

// needs asks for so many arguments: at least one, or none where that is what least says.
func needs(least, most int, what, example string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage(message.Error("no "+what+" given"), message.AsIn(example))
		case most > 0 && len(args) > most:
			return usage(message.Error(fmt.Sprintf("%s takes one %s, not %d", cmd.CommandPath(), what, len(args))), message.AsIn(example))
		}
		return nil
	}
}
