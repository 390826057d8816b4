//go:build unix

package engine

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
)

// A command can run, and say that it is ready for signals, before the one who started it has taken note of it.
func TestInvocation_SignalWhileStarting(t *testing.T) {
	inv := newInvocation(t.Context(), &Runner{}, Command{Args: []string{"sleep", "60"}}, nil)
	inv.launching()
	inv.Signal(syscall.SIGUSR1)
	inv.Interrupt(&Interrupt{Signal: int(syscall.SIGINT), Name: "SIGINT"})
	if inv.ctx.Err() != nil {
		t.Error("an interrupt that the starting command gets too has stopped it")
	}
	exit := started(t, inv)
	if exit.ShellCode() != 128+int(syscall.SIGUSR1) {
		t.Errorf("the command ended with %d, not by the signal", exit.ShellCode())
	}
	inv.running(nil)
	inv.Signal(syscall.SIGUSR1)
	if inv.early != nil {
		t.Error("a signal between two attempts is kept for the next")
	}
}

// Who asks twice wants it dead at once, also if the second request comes before we know of the process.
func TestInvocation_KillWhileStarting(t *testing.T) {
	inv := newInvocation(t.Context(), &Runner{}, Command{Args: []string{"sleep", "60"}}, nil)
	inv.launching()
	inv.Kill()
	exit := started(t, inv)
	if exit.ShellCode() != 128+int(syscall.SIGKILL) {
		t.Errorf("the command ended with %d, not killed", exit.ShellCode())
	}
}

// started starts the command, and returns how it ended.
func started(t *testing.T, inv *Invocation) supervise.Exit {
	t.Helper()
	path, err := exec.LookPath(inv.command.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	exit, err := inv.runner.supervisor().Run(supervise.Spec{Path: path, Args: inv.command.Args, Timeout: 20 * time.Second}, inv.running)
	if err != nil {
		t.Fatal(err)
	}
	return exit
}
