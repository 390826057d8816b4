// Package companion is what belayd does: the part of Belay that weighs too much for every call to carry. belay runs it
// when it is needed; people need not.
package companion

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/belay-run/belay/internal/version"
)

// Exit codes, as belay has them.
const (
	codeUsage  = 2
	codeFailed = 125
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
var commands = map[string]func(caller, []string) (int, error){
	"rehearse": rehearseCommand, "demo": demoCommand,
	"log": logCommand, "stats": statsCommand, "events": eventsCommand, "sessions": sessionsCommand, "alerts": alertsCommand,
	"audit": auditCommand, "prune": pruneCommand, "fold": foldCommand, "doctor": doctorCommand,
}

// caller is the belay that runs us.
type caller struct {
	version string // which must be ours
	path    string
}

// Main runs belayd with the given arguments and returns its exit code.
func Main(args []string) int {
	if name := calledAs(); name == askName {
		return ask(args)
	}
	var from caller
	flags := newFlags("belayd")
	flags.StringVar(&from.version, "for", "", "the version of the belay that asks")
	flags.StringVar(&from.path, "belay", "", "where that belay is")
	asked := flags.Bool("version", false, "print the version")
	if err := flags.Parse(args); err != nil {
		fmt.Fprint(os.Stderr, usageText)
		return codeUsage
	}
	args = flags.Args()
	switch {
	case *asked:
		fmt.Println("belayd", version.String())
		return 0
	case len(args) == 0:
		fmt.Print(usageText)
		return 0
	case from.path == "":
		fmt.Fprint(os.Stderr, usageText)
		return codeUsage
	case from.version != version.String():
		say("belay is %s but its companion is %s; install both from one build: make install", from.version, version.String())
		return codeFailed
	}
	command, known := commands[args[0]]
	if !known {
		fmt.Fprint(os.Stderr, usageText)
		return codeUsage
	}
	code, err := command(from, args[1:])
	if err != nil {
		return report(err)
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
func report(err error) int {
	say("%v", err)
	if wrong, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprint(os.Stderr, wrong.more)
		return codeUsage
	}
	return codeFailed
}

// say speaks as belay does, for that is who the user called.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "belay: %s\n", fmt.Sprintf(format, args...))
}
