package command

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
)

// CodeOf prints what is left to be said at the end of a command and returns its exit code. An answer that did not arrive on stdout is a
// failure of ours, whether or not the function that printed it has looked at the error.
func CodeOf(std stdio.Streams, err error) int {
	coded, isCode := errors.AsType[*ExitError](err)
	lost := std.Out.Err()
	if lost != nil && (err == nil || isCode || errors.Is(err, lost)) {
		if errors.Is(lost, syscall.EPIPE) { // a reader that has left knows
			return engine.CodeFailed
		}
		return Report(std.Err, Fail(errors.New(message.NotPrinted(lost))))
	}
	switch {
	case err == nil:
		return 0
	case isCode:
		return coded.code
	}
	return Report(std.Err, err)
}

// Streams is where a command of the tree reads and writes.
func Streams(cmd *cobra.Command) stdio.Streams {
	return stdio.Streams{In: cmd.InOrStdin(), Out: stdio.OutputOf(cmd.OutOrStdout()), Err: cmd.ErrOrStderr()}
}

// ExitError ends belay with a code after everything has been said.
type ExitError struct{ code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Exit is the error for an exit code; nil for 0.
func Exit(code int) error {
	if code == 0 {
		return nil
	}
	return &ExitError{code}
}

// hintError is an error with a line that says what to type next.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

// WithHint is an error with a line that says what to type next; empty if there is nothing to say.
func WithHint(err error, hint string) error { return &hintError{err, hint} }

// Usage is the error of a mistake of the caller's: nothing was started.
func Usage(err error, hint string) error {
	return WithHint(&belaytype.UsageError{Err: err}, hint)
}

// Report says an error in one line and chooses the exit code for it: what cobra refuses is wrong use.
func Report(w io.Writer, err error) int {
	text, code := Sentence(err)
	Say(w, text)
	return code
}

// Say prints a message to the user.
func Say(w io.Writer, text string) { term.Printf(w, "belay: %s\n", text) }

// Sentence is an error in one line, and the exit code for it.
func Sentence(err error) (string, int) {
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

// WithCode is an error for which belay ends with that code.
func WithCode(err error, code int) error { return &codedError{err, code} }

// Fail is an error that is not the caller's: belay itself could not do what was asked. It is nil for nil.
func Fail(err error) error {
	if err == nil {
		return nil
	}
	return &codedError{err, engine.CodeFailed}
}
