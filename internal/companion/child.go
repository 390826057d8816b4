package companion

import (
	"io"
	"os"

	"github.com/belay-run/belay/internal/supervise"
)

// runChild runs a program with our streams and gives it the signals that we get. nil for stdout drops it. The code is
// what a shell would show.
func runChild(args, env []string, stdout *os.File) (int, error) {
	spec := supervise.Spec{Path: args[0], Args: args, Env: env, Stdin: os.Stdin, Stderr: os.Stderr, Placement: placement()}
	if stdout != nil {
		spec.Stdout = io.Writer(stdout)
	}
	signals := catchSignals()
	defer signals.stop()
	var s supervise.Supervisor
	exit, err := s.Run(spec, func(p *supervise.Process) { go signals.pass(p, spec.Placement) })
	return exit.ShellCode(), err
}

// placement is that of a command which takes care of the terminal itself, as belay run does.
func placement() supervise.Placement {
	if supervise.IsTerminal(os.Stdin) || supervise.IsTerminal(os.Stdout) || supervise.IsTerminal(os.Stderr) {
		return supervise.TerminalPlacement()
	}
	return supervise.OwnGroup
}

// shared is that of one of several commands that run at a time.
func shared() supervise.Placement {
	if p := placement(); p == supervise.OwnGroup {
		return p
	}
	return supervise.SharedGroup
}
