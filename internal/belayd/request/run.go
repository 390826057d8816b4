package request

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	CodeUsage   = 2
	CodeLater   = 75 // the same call may work later
	CodeFailed  = 125
	CodeStopped = 143 // the context has ended
)

// Table is what a belayd can do.
type Table struct {
	// Commands are those of package belayd, by their names.
	Commands map[string]Func
	// Programs are what belayd is when it is started under another name.
	Programs map[string]func(ctx context.Context, std stdio.Streams, args []string) int
}

// Run runs belayd with the given arguments and returns its exit code. When ctx ends, so does what it waits for, and the code
// is 143. While it runs another program, signals are caught and passed on to that.
func (t *Table) Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	std := stdio.New(stdin, stdout, stderr)
	code := t.call(ctx, std, args)
	switch lost := std.Out.Err(); {
	case lost == nil:
		return code
	case !errors.Is(lost, syscall.EPIPE): // a reader that has left knows
		say(std, message.NotPrinted(lost))
	}
	return CodeFailed
}

// call is Run without a look at whether stdout has taken what was printed.
func (t *Table) call(ctx context.Context, std stdio.Streams, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			term.Panicked(std.Err, r)
			code = CodeFailed
		}
	}()
	if program := t.Programs[calledAs()]; program != nil {
		return program(ctx, std, args)
	}
	flags := newFlags("belayd")
	pair := flags.String("for", "", "the version and the format of the belay that asks")
	belay := flags.String("belay", "", "where that belay is")
	asked := flags.Bool("version", false, "print the version")
	if err := flags.Parse(args); err != nil {
		term.Text(std.Err, usageText())
		return CodeUsage
	}
	args = flags.Args()
	switch {
	case *asked:
		term.Printf(std.Out, "belayd %s\n", version.Full())
		return 0
	case len(args) == 0:
		term.Text(std.Out, usageText())
		return 0
	case *belay == "":
		term.Text(std.Err, usageText())
		return CodeUsage
	}
	if of, format := version.Unpair(*pair); format != strconv.Itoa(version.Format) {
		say(std, fmt.Sprintf("belay %s does not work with belayd %s. Install both from one release", of, version.String()))
		return CodeFailed
	}
	command, known := t.Commands[args[0]]
	if _, left := belayd.Find(args[0]); !known && left {
		say(std, fmt.Sprintf("this belayd was built without %s. To build all of it: make build", args[0]))
		return CodeFailed
	}
	if !known {
		term.Text(std.Err, usageText())
		return CodeUsage
	}
	r, err := Parse(std, args[0], args[1:])
	if err != nil {
		return report(std, err)
	}
	r.Belay, r.Pair = *belay, *pair
	code, err = command(ctx, r)
	switch {
	case err != nil && ctx.Err() != nil:
		return CodeStopped
	case err != nil && errors.Is(err, std.Out.Err()):
		return CodeFailed
	case err != nil:
		return report(std, err)
	}
	return code
}

// calledAs is the name under which we were started.
func calledAs() string { return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") }

// usageText tells a user who runs belayd directly which commands of belay to use.
func usageText() string {
	var b strings.Builder
	fmt.Fprintln(&b, "belayd is the companion of belay, which runs it when it is needed. What it does is there under")
	for _, c := range belayd.Commands() {
		if !c.Hidden && !c.Unlisted {
			fmt.Fprintf(&b, "  belay %-11s %s\n", c.Name, c.Summary)
		}
	}
	return b.String()
}

// report prints an error and returns the exit code for it.
func report(std stdio.Streams, err error) int {
	say(std, err.Error())
	if wrong, ok := errors.AsType[*UsageError](err); ok {
		term.Text(std.Err, wrong.More)
		return CodeUsage
	}
	return CodeFailed
}
