package command

import (
	"context"
	"os"
	"path/filepath"
	"syscall"

	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
)

// Path is the path at which others call this belay: the one on the PATH if it leads here, else where it is.
func Path() (string, error) {
	self, err := Executable()
	if err != nil {
		return "", err
	}
	if found, err := supervise.Look("belay", ""); err == nil && withoutLinks(found) == withoutLinks(self) {
		return filepath.Abs(found)
	}
	return self, nil
}

func withoutLinks(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// runProgram runs a program until it ends, or the context does.
func runProgram(ctx context.Context, std stdio.Streams, path string, argv []string) (int, error) {
	in, done, err := std.InputFile()
	if err != nil {
		return 0, err
	}
	defer done()
	sup, placement := Supervisor(ctx), supervise.SharedGroup
	if sup == nil {
		sup, placement = &supervise.Supervisor{}, supervise.OwnGroup
	}
	spec := supervise.Spec{Path: path, Args: argv, Stdin: in, Stdout: std.Out.Raw(), Stderr: std.Err, Placement: placement}
	exit, err := sup.Run(spec, func(p *supervise.Process) {
		context.AfterFunc(ctx, func() { p.Stop(supervise.Terminate) })
	})
	return exit.ShellCode(), err
}

// ownerKey is the key of what [OwnProcess] puts into a context.
type ownerKey struct{}

// OwnProcess returns a context with which [Run] has the process to itself, as an executable wants it: it catches signals,
// lets commands have the terminal, becomes the reaper of all descendants, and may be replaced by belayd. exit ends the
// process; it is called for a signal that comes while the result of a run is being written, which may block.
func OwnProcess(ctx context.Context, exit func(code int)) context.Context {
	return context.WithValue(ctx, ownerKey{}, exit)
}

// OwnsProcess returns what ends the process; nil if the process is not ours alone.
func OwnsProcess(ctx context.Context) (exit func(code int)) {
	exit, _ = ctx.Value(ownerKey{}).(func(code int))
	return exit
}

// Supervisor is the one that owns all descendants of a process that is ours; else nil, the one that a library has.
func Supervisor(ctx context.Context) *supervise.Supervisor {
	if OwnsProcess(ctx) == nil {
		return nil
	}
	return supervise.Own()
}

// Executable is where belay is. It is a variable for tests, whose executable is another.
var Executable = os.Executable

// CodeStopped is the exit code of a call whose context has ended, as engine has it for a run.
const CodeStopped = 128 + int(syscall.SIGTERM)
