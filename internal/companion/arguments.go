package companion

import (
	"flag"
	"slices"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/message"
)

// arguments are the flags of a command, as the table has them, and the operands after them.
type arguments struct {
	command belayd.Command
	flags   *flag.FlagSet
	rest    []string
	note    func(text string) // tells the user something beside the answer; nil if there is none
}

// parse reads the arguments of a command of the table.
func parse(name string, args []string) (*arguments, error) {
	command, ok := belayd.Find(name)
	if !ok {
		panic("belayd has no command " + name)
	}
	a := &arguments{command: command, flags: newFlags(name)}
	for _, f := range command.Flags {
		if f.Arg == "" {
			a.flags.Bool(f.Name, false, f.Help)
		} else {
			a.flags.String(f.Name, f.Default, f.Help)
		}
	}
	if err := a.flags.Parse(args); err != nil {
		return nil, &usageError{err: err}
	}
	if a.rest = a.flags.Args(); command.Args.What == "" && len(a.rest) > 0 {
		return nil, &usageError{err: message.Error(message.TakesNoArguments("belay "+name, ""))}
	}
	return a, nil
}

// check refuses a value that a flag does not take: a mistyped one would only give an empty answer.
func (a *arguments) check() error {
	for _, f := range a.command.Flags {
		if value := a.text(f.Name); f.Closed && value != "" && !slices.Contains(f.Values, value) {
			return &usageError{err: message.Error(message.InFlag(f.Name, message.Error(message.NotOneOf(value, f.Values))))}
		}
	}
	return nil
}

// has says that the command has a flag of that name.
func (a *arguments) has(name string) bool { return a.flags.Lookup(name) != nil }

// text is the value of a flag; empty if the command has none of that name.
func (a *arguments) text(name string) string {
	if f := a.flags.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// on says that a flag that takes nothing was given.
func (a *arguments) on(name string) bool { return a.text(name) == "true" }
