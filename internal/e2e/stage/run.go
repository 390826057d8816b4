//go:build linux

package stage

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// Running is a command that may not have ended.
type Running struct {
	*Stage
	Cmd            *exec.Cmd
	Stdout, Stderr *Buffer
	resultFile     string
	begun          time.Time
	done           chan error
	late           *time.Timer
}

// Belay runs `belay run flags -- agent args`.
func (s *Stage) Belay(flags, args []string) *Ran {
	s.T.Helper()
	return s.StartBelay(flags, args, nil).Wait()
}

// StartBelay is Belay that does not wait for the end.
func (s *Stage) StartBelay(flags, args []string, stdin io.Reader) *Running {
	s.T.Helper()
	f, err := os.CreateTemp(s.Dir, "result-*.json")
	must.OK(s.T, err)
	f.Close()
	os.Remove(f.Name())
	line := slices.Concat([]string{"run", "--result-file", f.Name()}, flags, []string{"--", s.cli.Name}, args)
	r := s.Start(s.Command("belay", line...), stdin)
	r.resultFile = f.Name()
	return r
}

// Run runs a command to its end.
func (s *Stage) Run(name string, args ...string) *Ran {
	s.T.Helper()
	return s.Start(s.Command(name, args...), nil).Wait()
}

// Start starts a command. Its stdout is collected, unless it goes somewhere else already.
func (s *Stage) Start(cmd *exec.Cmd, stdin io.Reader) *Running {
	s.T.Helper()
	r := &Running{Stage: s, Cmd: cmd, Stdout: &Buffer{}, Stderr: &Buffer{}, begun: time.Now(), done: make(chan error, 1)}
	if cmd.Stdout == nil {
		cmd.Stdout = r.Stdout
	}
	cmd.Stdin, cmd.Stderr = stdin, r.Stderr
	cmd.WaitDelay = 5 * time.Second
	must.OK(s.T, cmd.Start())
	go func() { r.done <- cmd.Wait() }()
	longest := s.Longest
	if longest == 0 {
		longest = Patience
	}
	r.late = time.AfterFunc(longest, func() { cmd.Process.Kill() })
	return r
}

// StartPiped starts a command whose stdout the test reads while it comes.
func (s *Stage) StartPiped(name string, args ...string) (*Running, *os.File) {
	s.T.Helper()
	pr, pw, err := os.Pipe()
	must.OK(s.T, err)
	s.T.Cleanup(func() { pr.Close() })
	cmd := s.Command(name, args...)
	cmd.Stdout = pw
	r := s.Start(cmd, nil)
	pw.Close()
	return r, pr
}

// Signal sends a signal to the command.
func (r *Running) Signal(sig os.Signal) { r.Cmd.Process.Signal(sig) }

// Wait waits for its end. A test that fails shows all of it.
func (r *Running) Wait() *Ran {
	r.T.Helper()
	e := r.Quietly()
	r.T.Cleanup(func() {
		if r.T.Failed() {
			r.T.Logf("%.300q\nexit %d after %v, %+v\nstdout: %.6000s\nstderr: %.3000s", r.Cmd.Args, e.Code, e.Took.Round(time.Millisecond), e.Result, e.Stdout, e.Stderr)
		}
	})
	return e
}

// Quietly waits for its end.
func (r *Running) Quietly() *Ran {
	err := <-r.done
	r.late.Stop()
	e := &Ran{Stage: r.Stage, Stdout: r.Stdout.String(), Stderr: r.Stderr.String(), Took: time.Since(r.begun)}
	if errors.Is(err, exec.ErrWaitDelay) && !r.Leaves {
		r.T.Errorf("somebody holds the output open: %v", r.Left())
	}
	e.Code = r.Cmd.ProcessState.ExitCode()
	if status, ok := r.Cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Code = 128 + int(status.Signal())
	}
	if r.resultFile != "" {
		if data, err := os.ReadFile(r.resultFile); err == nil {
			e.Result = &Result{}
			if err := json.Unmarshal(data, e.Result); err != nil {
				r.T.Errorf("the result file: %v\n%s", err, data)
			}
		}
	}
	return e
}
