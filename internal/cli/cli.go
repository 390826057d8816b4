// Package cli is the command belay: flags in, exit codes out. What it does is in the packages below; what it says is
// here.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/version"
)

// Run runs belay with the given arguments and returns its exit code. When ctx ends, so does what it runs, and the code is
// 143. Files among the streams are handed to commands as they are; a nil stdin is empty. Environment and working directory
// are those of the process; everything else of it is left alone, unless the context is one of [OwnProcess].
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	std := stdio.New(stdin, stdout, stderr)
	if len(args) > 0 && args[0] == "hook" {
		return hookMain(ctx, std, args)
	}
	defer func() {
		if r := recover(); r != nil {
			term.Panicked(std.Err, r)
			code = engine.CodeFailed
		}
	}()
	if err := checkLimits(); err != nil {
		return report(std.Err, err)
	}
	return codeOf(std, execute(ctx, std, args))
}

// codeOf prints what is left to be said at the end of a command and returns its exit code. An answer that did not arrive on stdout is a
// failure of ours, whether or not the function that printed it has looked at the error.
func codeOf(std stdio.Streams, err error) int {
	coded, isCode := errors.AsType[*exitError](err)
	lost := std.Out.Err()
	if lost != nil && (err == nil || isCode || errors.Is(err, lost)) {
		if errors.Is(lost, syscall.EPIPE) { // a reader that has left knows
			return engine.CodeFailed
		}
		return report(std.Err, fail(errors.New(message.NotPrinted(lost))))
	}
	switch {
	case err == nil:
		return 0
	case isCode:
		return coded.code
	}
	return report(std.Err, err)
}

func execute(ctx context.Context, std stdio.Streams, args []string) error {
	if given, command, ok := quickRun(args); ok {
		return run(ctx, std, given, command)
	}
	if len(args) > 0 && args[0] == detachedArg {
		return runDetached(ctx, std, args[1:])
	}
	_, err := executeCobra(ctx, std, args)
	return err
}

// executeCobra runs a command of the tree, and returns which one it was.
func executeCobra(ctx context.Context, std stdio.Streams, args []string) (*cobra.Command, error) {
	root := newRoot(std)
	root.SetArgs(args)
	return root.ExecuteContextC(context.WithValue(ctx, argsKey{}, args))
}

// stdioOf is where a command of the tree reads and writes.
func stdioOf(cmd *cobra.Command) stdio.Streams {
	return stdio.Streams{In: cmd.InOrStdin(), Out: stdio.OutputOf(cmd.OutOrStdout()), Err: cmd.ErrOrStderr()}
}

// exitError ends belay with a code after everything has been said.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// exit is the error for an exit code; nil for 0.
func exit(code int) error {
	if code == 0 {
		return nil
	}
	return &exitError{code}
}

// hintError is an error with a line that says what to type next.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

func usage(err error, hint string) error {
	return &hintError{&belaytype.UsageError{Err: err}, hint}
}

// report says an error in one line and chooses the exit code for it: what cobra refuses is wrong use.
func report(w io.Writer, err error) int {
	text, code := sentence(err)
	say(w, text)
	return code
}

// say prints a message to the user.
func say(w io.Writer, text string) { term.Printf(w, "belay: %s\n", text) }

// sentence is an error in one line, and the exit code for it.
func sentence(err error) (string, int) {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if h, ok := errors.AsType[*hintError](err); ok && h.hint != "" {
		text += "; " + h.hint
	}
	coded, isCoded := errors.AsType[*codedError](err)
	switch {
	case isCoded:
		return text, coded.code
	case outOfResources(err):
		return text, engine.CodeFailed
	}
	return text, engine.CodeUsage
}

// outOfResources reports whether something failed because this process or the machine has no more of something, which is no mistake of
// the caller's: a file that cannot be read for that may be fine.
func outOfResources(err error) bool {
	return engine.OutOfResources(err) || errors.Is(err, syscall.EIO)
}

// codedError is an error that has an exit code of its own.
type codedError struct {
	error
	code int
}

func (e *codedError) Unwrap() error { return e.error }

// fail is an error that is not the caller's: belay itself could not do what was asked. It is nil for nil.
func fail(err error) error {
	if err == nil {
		return nil
	}
	return &codedError{err, engine.CodeFailed}
}

// New builds the command tree, for programs that describe it.
func New() *cobra.Command { return newRoot(stdio.New(os.Stdin, os.Stdout, os.Stderr)) }

func newRoot(std stdio.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "belay COMMAND",
		Short: "Make calls to agent CLIs, and to the tools around them, dependable",
		Example: `Run claude. Wait for limits to pass, and retry what is safe to retry:
  belay run -- claude -p "Review the last commit"
Retry a flaky command up to three times:
  belay run --max-retries 3 -- curl -sSf https://example.com
Stop a command that takes too long, with everything it has started:
  belay run --timeout 10m -- make deploy
Show what the last week has cost:
  belay stats --since 7d`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asked, _ := cmd.Flags().GetBool("version"); asked {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "belay", version.Full())
				return err
			}
			if len(args) == 0 {
				return cmd.Help()
			}
			return notACommand(cmd, args[0])
		},
	}
	root.SetIn(std.In) // cobra's completion commands look for it when they are made
	root.SetOut(std.Out)
	root.SetErr(std.Err)
	root.DisableFlagsInUseLine = true
	root.SetHelpFunc(help)
	root.SetFlagErrorFunc(wrongFlag)
	root.AddCommand(newRun(run), newBatch(), newExplain(), newPs(), newAttach(), newCancel(), newGates(), newLimits(), newBudget(), newPrices(), newConfig(), newProfile(), newDoctor(), newMCP(), newHook(runHook), newShim(), newUninstallAll())
	root.AddCommand(handedOver()...)
	root.SetHelpCommand(newHelp(root))
	root.AddCommand(newCompletion())
	addCompletions(root)
	root.Flags().BoolP("version", "v", false, "print the version") // cobra's own needs templates, and with them the linker keeps every method
	addHelpFlags(root)
	return root
}
