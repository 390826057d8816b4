package cli

import (
	"context"
	"os"
	"syscall"

	"github.com/belay-run/belay/internal/supervise"
)

// ownerKey is the key of what [OwnProcess] puts into a context.
type ownerKey struct{}

// OwnProcess returns a context with which [Run] has the process to itself, as an executable wants it: it catches signals,
// lets commands have the terminal, becomes the reaper of all descendants, and may be replaced by belayd. exit ends the
// process; it is called for a signal that comes while the result of a run is being written, which may block.
func OwnProcess(ctx context.Context, exit func(code int)) context.Context {
	return context.WithValue(ctx, ownerKey{}, exit)
}

// ownsProcess returns what ends the process; nil if the process is not ours alone.
func ownsProcess(ctx context.Context) (exit func(code int)) {
	exit, _ = ctx.Value(ownerKey{}).(func(code int))
	return exit
}

// supervisor is the one that owns all descendants of a process that is ours; else nil, the one that a library has.
func supervisor(ctx context.Context) *supervise.Supervisor {
	if ownsProcess(ctx) == nil {
		return nil
	}
	return supervise.Own()
}

// executable is where belay is. It is a variable for tests, whose executable is another.
var executable = os.Executable

// codeStopped is the exit code of a call whose context has ended, as engine has it for a run.
const codeStopped = 128 + int(syscall.SIGTERM)
