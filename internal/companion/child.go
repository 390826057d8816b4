package companion

import (
	"context"
	"io"

	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
)

// runChild runs a program with our streams and gives it the signals that we get. A nil stdout drops it. The code is what a
// shell would show.
func (c caller) runChild(ctx context.Context, args, env []string, stdout io.Writer) (int, error) {
	in, done, err := c.InputFile()
	if err != nil {
		return 0, err
	}
	defer done()
	return superviseChild(ctx, supervise.Spec{Path: args[0], Args: args, Env: env, Stdin: in, Stdout: stdout, Stderr: c.Err, Placement: c.placement()})
}

// superviseChild runs a program until it ends, or ctx does.
func superviseChild(ctx context.Context, spec supervise.Spec) (int, error) {
	signals := catchSignals()
	defer signals.stop()
	var s supervise.Supervisor
	exit, err := s.Run(spec, func(p *supervise.Process) {
		context.AfterFunc(ctx, func() { p.Stop(supervise.Terminate) })
		go signals.pass(p, spec.Placement)
	})
	return exit.ShellCode(), err
}

// placement is the placement of a command which takes care of the terminal itself, as belay run does.
func (c caller) placement() supervise.Placement {
	if stdio.IsTerminal(c.In) || stdio.IsTerminal(c.Out) || stdio.IsTerminal(c.Err) {
		return supervise.TerminalPlacement()
	}
	return supervise.OwnGroup
}

// shared is the placement of one of several commands that run at a time.
func (c caller) shared() supervise.Placement {
	if p := c.placement(); p == supervise.OwnGroup {
		return p
	}
	return supervise.SharedGroup
}
