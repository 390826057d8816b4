//go:build unix

package engine_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// early is a starter of real processes that does something after a process was started and before the engine knows of it.
type early struct {
	engine.Supervised
	do func()
}

func (s early) Run(spec supervise.Spec, started func(engine.Process)) (supervise.Exit, error) {
	return s.Supervised.Run(spec, func(p engine.Process) {
		s.do()
		started(p)
	})
}

// A command can run, and say that it is ready for signals, before the engine has taken note of it.
func TestAttempt_SignalWhileStarting(t *testing.T) {
	r := &engine.Runner{Policy: retry.Policy{Timeout: 20 * time.Second}}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	inv, err := r.Prepare(ctx, belaytype.Command{Args: []string{"sleep", "60"}})
	must.OK(t, err)
	r.Starter = early{do: func() {
		inv.Signal(syscall.SIGUSR1)
		inv.Interrupt(sigint) // the starting command gets that too
	}}
	inv.Run()
	if res, _ := inv.Wait(); res.ChildCode != 128+int(syscall.SIGUSR1) || res.Verdict.Class == verdict.Timeout {
		t.Errorf("the command ended with %d, not by the signal: %s", res.ChildCode, res.Error)
	}
	inv.Signal(syscall.SIGUSR1) // there is none any more
}

// A second request kills at once, also if it comes before we know of the process. A command that was asked first would end by SIGTERM.
func TestAttempt_KillWhileStarting(t *testing.T) {
	r := &engine.Runner{Policy: retry.Policy{Timeout: 20 * time.Second}}
	inv, err := r.Prepare(t.Context(), belaytype.Command{Args: []string{"sleep", "60"}})
	must.OK(t, err)
	r.Starter = early{do: inv.Kill}
	inv.Run()
	if res, _ := inv.Wait(); res.Verdict.Class != verdict.Interrupted || res.ChildCode != 128+int(syscall.SIGKILL) {
		t.Errorf("the command ended with %d after %v: %s", res.ChildCode, res.Duration, res.Error)
	}
}

// A signal between two attempts is not kept for the next.
func TestAttempt_SignalBetweenAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: 1, BaseDelay: 10 * time.Second, Jitter: retry.NoJitter})
		s := script(r, steps(1), steps(0, enginetest.Wait(time.Second)))
		inv := start(t, r, tool)
		time.Sleep(5 * time.Second)
		inv.Signal(syscall.SIGUSR1)
		if _, err := inv.Wait(); err != nil || len(s.Signals()) != 0 {
			t.Errorf("%v, was sent %v", err, s.Signals())
		}
	})
}

// A signal goes to the command, and to it alone; what it makes of it counts.
func TestRunner_SignalsARunningCommand(t *testing.T) {
	for name, deaf := range map[string]bool{"that dies of it": false, "that goes on": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, retry.Policy{})
				s := script(r, enginetest.Attempt{Steps: []enginetest.Step{enginetest.Wait(time.Minute)}, Deaf: deaf})
				inv := start(t, r, tool)
				time.Sleep(10 * time.Second)
				inv.Signal(syscall.SIGUSR1)
				res, _ := inv.Wait()
				equalLists(t, "signals", s.Signals(), []syscall.Signal{syscall.SIGUSR1})
				if res.Success != deaf || !deaf && (res.ChildCode != 128+int(syscall.SIGUSR1) || res.Duration != 10*time.Second || entries(t, r)[0].Signal != "SIGUSR1") {
					t.Errorf("ended with %d after %v: %s", res.ChildCode, res.Duration, res.Error)
				}
			})
		})
	}
}

// A run of another process is asked to stop as any process is: by a signal.
func TestScope_ReplacesARunOfAnotherProcess(t *testing.T) {
	if dir := os.Getenv("TEST_SCOPE_STATE"); dir != "" {
		r := &engine.Runner{
			State: &state.State{Dir: dir},
			Observe: func(e belaytype.Event) {
				if _, ok := e.(belaytype.AttemptStarted); ok {
					os.Stdout.WriteString("started\n")
				}
			},
			Admission: engine.Admission{Scope: "deploy"},
		}
		r.Run(context.Background(), belaytype.Command{Args: []string{"sleep", "60"}})
		os.Exit(0)
	}
	dir := filepath.Join(t.TempDir(), "state")
	other := exec.Command(os.Args[0], "-test.run=^TestScope_ReplacesARunOfAnotherProcess$")
	other.Env = append(os.Environ(), "TEST_SCOPE_STATE="+dir)
	stdout, err := other.StdoutPipe()
	must.OK(t, err)
	must.OK(t, other.Start())
	if _, err := stdout.Read(make([]byte, 1)); err != nil { // it has the scope
		t.Fatal(err)
	}
	r := &engine.Runner{State: &state.State{Dir: dir}, Admission: engine.Admission{Scope: "deploy", OnBusy: engine.BusyReplace}}
	res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"true"}})
	if err != nil || res.Waited == 0 {
		t.Errorf("waited %v: %v", res.Waited, err)
	}
	if err := other.Wait(); err == nil || !strings.Contains(err.Error(), "terminated") {
		t.Errorf("the other process: %v", err)
	}
}
