// Package companion is what belayd does: the part of Belay that is too large to load in every call. belay starts belayd
// when it needs it; users do not have to.
package companion

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/version"
)

// Exit codes, as belay has them.
const (
	codeUsage   = 2
	codeLater   = 75 // the same call may work later
	codeFailed  = 125
	codeStopped = 143 // the context has ended
)

// usageText tells a user who runs belayd directly which commands of belay to use.
func usageText() string {
	var b strings.Builder
	fmt.Fprintln(&b, "belayd is the companion of belay, which runs it when it is needed. What it does is there under")
	for _, c := range belayd.Commands() {
		if !c.Hidden {
			fmt.Fprintf(&b, "  belay %-11s %s\n", c.Name, c.Summary)
		}
	}
	return b.String()
}

// commands maps the name of each command to its implementation. Those of the record are added in record.go.
var commands = map[string]func(context.Context, caller, *arguments) (int, error){
	belayd.Rehearse: rehearseCommand, belayd.Demo: demoCommand, belayd.MCP: mcpCommand,
}

// caller is the belay that runs us, and where it reads and writes.
type caller struct {
	version string // which must be ours
	pair    string // with the format
	path    string
	stdio.Streams
}

// Run runs belayd with the given arguments and returns its exit code. When ctx ends, so does what it waits for, and the code
// is 143. While it runs another program, signals are caught and passed on to that.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	from := caller{Streams: stdio.New(stdin, stdout, stderr)}
	code := call(ctx, from, args)
	switch lost := from.Out.Err(); {
	case lost == nil:
		return code
	case !errors.Is(lost, syscall.EPIPE): // a reader that has left knows
		from.say(message.NotPrinted(lost))
	}
	return codeFailed
}

// call is Run without a look at whether stdout has taken what was printed.
func call(ctx context.Context, from caller, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			term.Panicked(from.Err, r)
			code = codeFailed
		}
	}()
	if name := calledAs(); name == askName {
		return ask(ctx, from, args)
	}
	flags := newFlags("belayd")
	pair := flags.String("for", "", "the version and the format of the belay that asks")
	flags.StringVar(&from.path, "belay", "", "where that belay is")
	asked := flags.Bool("version", false, "print the version")
	if err := flags.Parse(args); err != nil {
		term.Text(from.Err, usageText())
		return codeUsage
	}
	args = flags.Args()
	switch {
	case *asked:
		term.Printf(from.Out, "belayd %s\n", version.Full())
		return 0
	case len(args) == 0:
		term.Text(from.Out, usageText())
		return 0
	case from.path == "":
		term.Text(from.Err, usageText())
		return codeUsage
	}
	from.pair = *pair
	var format string
	if from.version, format = version.Unpair(*pair); format != strconv.Itoa(version.Format) {
		from.say(fmt.Sprintf("belay %s does not work with belayd %s. Install both from one release", from.version, version.String()))
		return codeFailed
	}
	command, known := commands[args[0]]
	if _, left := belayd.Find(args[0]); !known && left {
		from.say(fmt.Sprintf("this belayd was built without %s. To build all of it: make build", args[0]))
		return codeFailed
	}
	if !known {
		term.Text(from.Err, usageText())
		return codeUsage
	}
	given, err := parse(args[0], args[1:])
	if err != nil {
		return from.report(err)
	}
	given.note = from.say
	code, err = command(ctx, from, given)
	switch {
	case err != nil && ctx.Err() != nil:
		return codeStopped
	case err != nil && errors.Is(err, from.Out.Err()):
		return codeFailed
	case err != nil:
		return from.report(err)
	}
	return code
}

// newFlags returns a flag set that prints nothing: report prints all errors.
func newFlags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

// usageError is a mistake of the caller: nothing was started.
type usageError struct {
	err  error
	more string // lines that show the place
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// report prints an error and returns the exit code for it.
func (c caller) report(err error) int {
	c.say(err.Error())
	if wrong, ok := errors.AsType[*usageError](err); ok {
		term.Text(c.Err, wrong.more)
		return codeUsage
	}
	return codeFailed
}

// say prints a message under belay's name, since that is the command that the user ran.
func (c caller) say(text string) { term.Printf(c.Err, "belay: %s\n", text) }

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
