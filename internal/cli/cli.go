// Package cli is the command belay: flags in, exit codes out. What it does is in the packages below; what it says is
// here.
package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/version"
)

// Main runs belay with the given arguments and returns its exit code. It owns the process: it may install signal
// handlers and become the reaper of all its descendants.
func Main(args []string) (code int) {
	if len(args) > 0 && args[0] == "hook" {
		return hookMain(args)
	}
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(os.Stderr, "belay: internal error: %v; please report it with what follows\n%s", r, debug.Stack())
			code = engine.CodeFailed
		}
	}()
	return codeOf(execute(args))
}

// codeOf says what is still to be said and returns the exit code for it.
func codeOf(err error) int {
	var coded *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &coded):
		return coded.code
	}
	return report(err)
}

func execute(args []string) error {
	if given, command, ok := quickRun(args); ok {
		return run(given, command)
	}
	return executeCobra(args)
}

func executeCobra(args []string) error {
	root := New()
	root.SetArgs(args)
	return root.Execute()
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
	return &hintError{&engine.UsageError{Err: err}, hint}
}

// report says an error in one line and chooses the exit code for it: what cobra refuses is wrong use.
func report(err error) int {
	text, code := sentence(err)
	fmt.Fprintf(os.Stderr, "belay: %s\n", text)
	return code
}

// sentence is an error in one line, and the exit code for it.
func sentence(err error) (string, int) {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	var h *hintError
	if errors.As(err, &h) && h.hint != "" {
		text += "; " + h.hint
	}
	var failed *failure
	var late *expired
	switch {
	case errors.As(err, &failed):
		return text, engine.CodeFailed
	case errors.As(err, &late):
		return text, engine.CodeTimeout
	}
	return text, engine.CodeUsage
}

// failure is an error that is not the caller's: belay itself could not do what was asked.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// expired is an error that says that something took longer than it may.
type expired struct{ err error }

func (e *expired) Error() string { return e.err.Error() }
func (e *expired) Unwrap() error { return e.err }

// nameVersion lets templates of cobra ask for the version. Its own field would have it looked up for every command.
var nameVersion = sync.OnceFunc(func() { cobra.AddTemplateFunc("belayVersion", version.String) })

// New builds the command tree.
func New() *cobra.Command {
	root := &cobra.Command{
		Use:   "belay COMMAND",
		Short: "Make calls to agent CLIs, and to the tools around them, dependable",
		Example: `  belay run -- claude -p "Review the last commit"
  belay run --max-retries 3 -- curl -sSf https://example.com
  belay run --timeout 10m -- make deploy
  belay stats --since 7d`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return notACommand(cmd, args[0])
		},
	}
	root.DisableFlagsInUseLine = true
	nameVersion()
	root.Version = "see the template" // without one there is no --version
	root.SetVersionTemplate("belay {{belayVersion}}\n")
	root.SetHelpFunc(help)
	root.SetFlagErrorFunc(wrongFlag)
	root.AddCommand(newRun(run), newExplain(), newPs(), newCancel(), newGates(), newRehearse(), newDemo(), newConfig(), newMCP(), newHook(runHook))
	root.AddCommand(recordCommands()...)
	root.SetHelpCommand(newHelp(root))
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil && completion != root {
		completion.Args, completion.RunE = noArgs, onlyHelp
	}
	addCompletions(root)
	return root
}
