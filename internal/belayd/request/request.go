// Package request is what belay asks of belayd: a command of the table in package belayd, with its flags and arguments. [Table.Run] is belayd
// from the arguments of its process to its exit code; a command is a [Func].
package request

import (
	"context"
	"flag"
	"io"
	"slices"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
)

// Request is one call of belayd.
type Request struct {
	stdio.Streams
	// Belay is where the belay is that asks. Pair is its version, with the format.
	Belay, Pair string
	Command     belayd.Command
	Rest        []string // the arguments after the flags

	flags *flag.FlagSet
}

// Func is a command of belayd. It returns the exit code, or an error: a [UsageError] is the caller's mistake.
type Func func(context.Context, *Request) (int, error)

// Parse reads the arguments of a command of the table.
func Parse(std stdio.Streams, name string, args []string) (*Request, error) {
	command, ok := belayd.Find(name)
	if !ok {
		panic("belayd has no command " + name)
	}
	r := &Request{Streams: std, Command: command, flags: newFlags(name)}
	for _, f := range command.Flags {
		if f.Arg == "" {
			r.flags.Bool(f.Name, false, f.Help)
		} else {
			r.flags.String(f.Name, f.Default, f.Help)
		}
	}
	if err := r.flags.Parse(args); err != nil {
		return nil, &UsageError{Err: err}
	}
	if r.Rest = r.flags.Args(); command.Args.What == "" && len(r.Rest) > 0 {
		return nil, &UsageError{Err: message.Error(message.TakesNoArguments("belay "+name, ""))}
	}
	return r, nil
}

// newFlags returns a flag set that prints nothing: report prints all errors.
func newFlags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

// Check refuses a value that a flag does not take: a mistyped one would only give an empty answer.
func (r *Request) Check() error {
	for _, f := range r.Command.Flags {
		if value := r.Text(f.Name); f.Closed && value != "" && !slices.Contains(f.Values, value) {
			return &UsageError{Err: message.Error(message.InFlag(f.Name, message.Error(message.NotOneOf(value, f.Values))))}
		}
	}
	return nil
}

// Has says that the command has a flag of that name.
func (r *Request) Has(name string) bool { return r.flags.Lookup(name) != nil }

// Text is the value of a flag; empty if the command has none of that name.
func (r *Request) Text(name string) string {
	if f := r.flags.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// On says that a flag that takes nothing was given.
func (r *Request) On(name string) bool { return r.Text(name) == "true" }

// Say prints a message under belay's name, since that is the command that the user ran.
func (r *Request) Say(text string) { say(r.Streams, text) }

func say(std stdio.Streams, text string) { term.Printf(std.Err, "belay: %s\n", text) }

// UsageError is a mistake of the caller: nothing was started.
type UsageError struct {
	Err  error
	More string // lines that show the place
}

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }
