package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/message"
)

// OnlyHelp is what a command does that only has others below it.
func OnlyHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// What is said of a command line that makes no sense: what is wrong with it, and what to type instead.

// WrongFlag explains what pflag refuses, and names the flag that was probably meant.
func WrongFlag(cmd *cobra.Command, err error) error {
	see := message.See(cmd.CommandPath() + " --help")
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return Usage(err, see)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near := Suggest(unknown.GetSpecifiedName(), names); len(near) > 0 {
		see = "did you mean --" + strings.Join(near, ", --") + "? " + see
	}
	return Usage(err, see)
}

// Suggest returns the names that were probably meant by a word, at most three: the one that it is a few letters away from, else those
// that it begins, else those that it is a part of, as retries is of max-retries.
func Suggest(word string, names []string) (near []string) {
	if one := message.Nearest(word, names); one != "" {
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

// CommandsOf are the names of the commands under cmd.
func CommandsOf(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// NoArgs refuses arguments. Where there are commands below, one is a mistyped command.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := CommandsOf(cmd)
	if len(names) == 0 {
		return Usage(message.Error(message.TakesNoArguments(cmd.CommandPath(), args[0])), message.See(cmd.CommandPath()+" --help"))
	}
	err := message.Error(fmt.Sprintf("%s has no command %q", cmd.CommandPath(), args[0]))
	if near := Suggest(args[0], names); len(near) > 0 {
		return Usage(err, message.DidYouMeanCommand(cmd.CommandPath(), near))
	}
	return Usage(err, "the commands are "+message.And(names))
}

// Needs asks for so many arguments: at least one, or none where that is what least says.
func Needs(least, most int, what, example string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return Usage(message.Error("no "+what+" given"), message.AsIn(example))
		case most > 0 && len(args) > most:
			return Usage(message.Error(fmt.Sprintf("%s takes one %s, not %d", cmd.CommandPath(), what, len(args))), message.AsIn(example))
		}
		return nil
	}
}
