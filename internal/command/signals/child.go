// Package signals catches what others send to belayd, and passes it on to a program that belayd runs.
package signals

import (
	"context"
	"io"
	"sync/atomic"
	"syscall"

	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
)

// RunWith runs a program with the streams of a command and gives it the signals that we get. A nil stdout drops it. The code is what a
// shell would show.
func RunWith(ctx context.Context, std stdio.Streams, args, env []string, stdout io.Writer) (int, error) {
	in, done, err := std.InputFile()
	if err != nil {
		return 0, err
	}
	defer done()
	return Run(ctx, supervise.Spec{Path: args[0], Args: args, Env: env, Stdin: in, Stdout: stdout, Stderr: std.Err, Placement: placement(std)})
}

// Run runs a program until it ends, or ctx does.
func Run(ctx context.Context, spec supervise.Spec) (int, error) {
	signals := Catch()
	defer signals.Stop()
	var s supervise.Supervisor
	exit, err := s.Run(spec, func(p *supervise.Process) {
		context.AfterFunc(ctx, func() { p.Stop(supervise.Terminate) })
		go signals.Pass(p, spec.Placement)
	})
	return exit.ShellCode(), err
}

// placement is the placement of a command which takes care of the terminal itself, as belay run does.
func placement(std stdio.Streams) supervise.Placement {
	if stdio.IsTerminal(std.In) || stdio.IsTerminal(std.Out) || stdio.IsTerminal(std.Err) {
		return supervise.TerminalPlacement()
	}
	return supervise.OwnGroup
}

// Shared is the placement of one of several commands that run at a time.
func Shared(std stdio.Streams) supervise.Placement {
	if p := placement(std); p == supervise.OwnGroup {
		return p
	}
	return supervise.SharedGroup
}

// Until returns a context that ends with the first signal; code is then what a shell shows for it. stop gives the signals up again.
func Until(ctx context.Context) (until context.Context, code func() int, stop func()) {
	until, cancel := context.WithCancel(ctx)
	caught := Catch()
	var first atomic.Int32
	go func() {
		for got := range caught {
			first.CompareAndSwap(0, int32(got.(syscall.Signal)))
			cancel()
		}
	}()
	return until, func() int { return 128 + int(first.Load()) }, func() {
		caught.Stop()
		cancel()
	}
}
