// Package companion is what belayd does: the part of Belay that weighs too much for every call to carry. belay runs it
// when it is needed; people need not.
package companion

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/version"
)

// Exit codes, as belay has them.
const (
	codeUsage   = 2
	codeFailed  = 125
	codeStopped = 143 // the context has ended
)

const usageText = `belayd is the companion of belay, which runs it when it is needed. What it does is there under
  belay rehearse    try out a command against stand-ins that fail as a script says
  belay demo        see a limit, a wait, a success and a circuit breaker in half a minute
  belay log         what was run, and the story of one run
  belay stats       success, attempts, waits, tokens and cost
  belay events      what failed for good
  belay sessions    the sessions of agents
  belay alerts      what has failed again and again
  belay audit       failures by kind, and what was changed by hand
  belay prune       forget what is old
  belay doctor      look whether everything is as it should be
`

// commands are what we can be asked for.
var commands = map[string]func(context.Context, caller, []string) (int, error){
	"rehearse": rehearseCommand, "demo": demoCommand,
	"log": logCommand, "stats": statsCommand, "events": eventsCommand, "sessions": sessionsCommand, "alerts": alertsCommand,
	"audit": auditCommand, "prune": pruneCommand, "fold": foldCommand, "doctor": doctorCommand,
}

// caller is the belay that runs us, and where it reads and writes.
type caller struct {
	version string // which must be ours
	path    string
	stdio.Streams
}

// Run runs belayd with the given arguments and returns its exit code. When ctx ends, so does what it waits for, and the code
// is 143. While it runs another program, signals are caught and passed on to that.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	from := caller{Streams: stdio.New(stdin, stdout, stderr)}
	if name := calledAs(); name == askName {
		return ask(ctx, from, args)
	}
	flags := newFlags("belayd")
	flags.StringVar(&from.version, "for", "", "the version of the belay that asks")
	flags.StringVar(&from.path, "belay", "", "where that belay is")
	asked := flags.Bool("version", false, "print the version")
	if err := flags.Parse(args); err != nil {
		fmt.Fprint(from.Err, usageText)
		return codeUsage
	}
	args = flags.Args()
	switch {
	case *asked:
		fmt.Fprintln(from.Out, "belayd", version.String())
		return 0
	case len(args) == 0:
		fmt.Fprint(from.Out, usageText)
		return 0
	case from.path == "":
		fmt.Fprint(from.Err, usageText)
		return codeUsage
	case from.version != version.String():
		from.say("belay is %s but its companion is %s; install both from one build: make install", from.version, version.String())
		return codeFailed
	}
	command, known := commands[args[0]]
	if !known {
		fmt.Fprint(from.Err, usageText)
		return codeUsage
	}
	code, err := command(ctx, from, args[1:])
	switch {
	case err != nil && ctx.Err() != nil:
		return codeStopped
	case err != nil:
		return from.report(err)
	}
	return code
}

// newFlags parses quietly: what is wrong is said in one voice.
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

// report says an error and chooses the exit code for it.
func (c caller) report(err error) int {
	c.say("%v", err)
	if wrong, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprint(c.Err, wrong.more)
		return codeUsage
	}
	return codeFailed
}

// say speaks as belay does, for that is who the user called.
func (c caller) say(format string, args ...any) {
	fmt.Fprintf(c.Err, "belay: %s\n", fmt.Sprintf(format, args...))
}
