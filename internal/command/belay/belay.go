// Package belay is the root of the commands, and the table of those that the executable links.
package belay

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/command/shim"
	"github.com/belay-run/belay/internal/detach"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
)

// Main runs belay as its process was started, args[0] being the name: as belay, see [Run], or in the place of a CLI, as the links of
// belay shim do.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if code, ok := shim.Main(ctx, args, stdin, stdout, stderr); ok {
		return code
	}
	return Run(ctx, args[min(1, len(args)):], stdin, stdout, stderr)
}

// Run runs belay with the given arguments and returns its exit code. When ctx ends, so does what it runs, and the code is
// 143. Files among the streams are handed to commands as they are; a nil stdin is empty. Environment and working directory
// are those of the process; everything else of it is left alone, unless the context is one of [command.OwnProcess].
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	std := stdio.New(stdin, stdout, stderr)
	called := rowOf(args)
	defer func() {
		if r := recover(); r != nil {
			term.Panicked(std.Err, r)
			code = called.codeOf(engine.CodeFailed, args)
		}
	}()
	if err := command.CheckLimits(); err != nil {
		return called.codeOf(command.Report(std.Err, err), args)
	}
	if called.quick != nil {
		if err, ok := called.quick(ctx, std, args); ok {
			return command.CodeOf(std, err)
		}
	}
	if len(args) > 0 && args[0] == detach.Arg {
		return command.CodeOf(std, detach.Execute(ctx, std, args[1:], func(ctx context.Context, std stdio.Streams, args []string) error {
			_, err := execute(ctx, std, args)
			return err
		}))
	}
	cmd, err := execute(ctx, std, args)
	code = command.CodeOf(std, err)
	if _, ended := errors.AsType[*command.ExitError](err); err != nil && !ended && cmd.Name() == called.name {
		return called.codeOf(code, args)
	}
	return code
}

// execute runs a command of the tree, and returns which one it was.
func execute(ctx context.Context, std stdio.Streams, args []string) (*cobra.Command, error) {
	root := newRoot(std)
	root.SetArgs(args)
	return root.ExecuteContextC(detach.WithArgs(ctx, args))
}
