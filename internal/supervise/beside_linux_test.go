package supervise_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
)

// beside runs something else while f does its work.
func beside(t *testing.T, s *supervise.Supervisor, f func()) {
	t.Helper()
	up := make(chan *supervise.Process)
	var other sync.WaitGroup
	other.Go(func() { s.Run(shell("exec sleep 300"), func(p *supervise.Process) { up <- p }) })
	p := <-up
	f()
	p.Kill()
	other.Wait()
}

// While another command runs, what one leaves behind is still found, and one that leaves nothing is not said to have left anything: a look at our own children
// tells.
func TestOwner_LeftBesideOthers(t *testing.T) {
	s := own(t)
	beside(t, s, func() {
		for range 5 {
			if exit := runOwned(t, s, shell("true"), nil); len(exit.Left) > 0 {
				t.Errorf("left: %v", exit.Left)
			}
		}
		for _, script := range []string{`setsid sleep 300 &`, `(setsid env -i sleep 300 &)`, `setsid sh -c 'sleep 300 & exit'`} {
			var p *supervise.Process
			exit := runOwned(t, s, shell(script), func(q *supervise.Process) { p = q })
			if len(exit.Left) == 0 {
				t.Errorf("%s: nothing is left", script)
			}
			// A later one does not have it on its account.
			if exit := runOwned(t, s, shell("true"), nil); len(exit.Left) > 0 {
				t.Errorf("after %s: left: %v", script, exit.Left)
			}
			if killed, left := p.EndTree(); killed == 0 || len(left) > 0 {
				t.Errorf("%s: ended %d, left %v", script, killed, left)
			}
		}
	})
}

// Orphans that end while several commands run do not stay as zombies.
func TestOwner_ReapsBesideOthers(t *testing.T) {
	s := own(t)
	dir := t.TempDir()
	beside(t, s, func() {
		beside(t, s, func() {
			var wg sync.WaitGroup
			wg.Go(func() {
				runOwned(t, s, shell(`(setsid sh -c 'echo $$ > "$0"' "$1" &); while [ ! -e "$2" ]; do sleep 0.01; done`, filepath.Join(dir, "pid"), filepath.Join(dir, "over")), nil)
			})
			eventually(t, "the orphan is reaped", func() bool {
				text, _ := os.ReadFile(filepath.Join(dir, "pid"))
				pid := strings.TrimSpace(string(text))
				return pid != "" && !exists("/proc/"+pid)
			})
			os.WriteFile(filepath.Join(dir, "over"), nil, 0o600)
			wg.Wait()
		})
	})
}

// Streams that are only kept are read by the thread that waits, whatever the command does with them.
func TestRun_InMemory(t *testing.T) {
	const lines = 50_000 // more than pipes hold
	for name, tt := range map[string]struct {
		script   string
		out, err int
		code     int
	}{
		"Little":     {`echo x; echo y >&2; exit 3`, 2, 2, 3},
		"Much":       {fmt.Sprintf(`yes out | head -n %d; yes er | head -n %d >&2`, lines, lines), 4 * lines, 3 * lines, 0},
		"Closed":     {`echo x; exec >&- 2>&-; sleep 0.05; exit 4`, 2, 0, 4},
		"HeldOpen":   {`echo x; sleep 300 & echo y; exit 5`, 4, 0, 5},
		"AtTheEnd":   {`sleep 0.02; printf %05d 7`, 5, 0, 0},
		"Reopened":   {`echo x; echo y > /dev/stdout; echo z >&2; echo z > /dev/stderr`, 4, 4, 0},
		"NothingYet": {`exit 0`, 0, 0, 0},
	} {
		for _, way := range []string{"Library", "Own"} {
			t.Run(name+way, func(t *testing.T) {
				s := &supervise.Supervisor{}
				if way == "Own" {
					s = own(t)
				}
				spec := shell(tt.script)
				var out, errors bytes.Buffer
				spec.Stdout, spec.Stderr, spec.InMemory = &out, &errors, true
				var p *supervise.Process
				exit := runOwned(t, s, spec, func(q *supervise.Process) { p = q })
				if exit.Code != tt.code || out.Len() != tt.out || errors.Len() != tt.err {
					t.Errorf("%d and %d bytes, %+v", out.Len(), errors.Len(), exit)
				}
				p.EndTree()
			})
		}
	}
}

// A command whose end another run was the first to see, while its streams were still read, is over: it does not wait for the others.
func TestRun_ReapedByAnother(t *testing.T) {
	s := own(t)
	written, taken := make(chan struct{}), make(chan struct{})
	spec := shell(`echo x; exit 3`)
	spec.InMemory, spec.Stdout = true, writerFunc(func(text []byte) (int, error) {
		close(written)
		<-taken
		return len(text), nil
	})
	var pid atomic.Int64
	over := make(chan supervise.Exit, 1)
	go func() {
		exit, _ := s.Run(spec, func(p *supervise.Process) { pid.Store(int64(p.PID())) })
		over <- exit
	}()
	<-written
	beside(t, s, func() {
		eventually(t, "another run reaps it", func() bool {
			runOwned(t, s, shell(`exit 0`), nil)
			return !exists(fmt.Sprintf("/proc/%d", pid.Load()))
		})
		close(taken)
		select {
		case exit := <-over:
			if exit.Code != 3 {
				t.Errorf("%+v", exit)
			}
		case <-time.After(testTimeout):
			t.Error("it waits for another command")
		}
	})
}

// A writer that fails ends the command as a reader does that has left, and a limit ends it while its streams are read.
func TestRun_InMemoryEnds(t *testing.T) {
	t.Parallel()
	spec := shell("yes")
	spec.Stdout, spec.InMemory = &limitedWriter{room: 100}, true
	if exit := run(t, spec, nil); exit.ShellCode() != 128+int(syscall.SIGPIPE) {
		t.Errorf("%+v", exit)
	}
	var out bytes.Buffer
	var p *supervise.Process
	spec = shell(`trap 'echo ended; exit 1' TERM; echo begun; sleep 300 & wait`)
	spec.InMemory, spec.Stdout = true, writerFunc(func(text []byte) (int, error) {
		if out.Len() == 0 {
			p.Stop(supervise.Terminate)
		}
		return out.Write(text)
	})
	exit := run(t, spec, func(q *supervise.Process) { p = q })
	if exit.Reason != supervise.Stopped || out.String() != "begun\nended\n" {
		t.Errorf("%+v, %q", exit, out.String())
	}
}

// writerFunc is a function that is a writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// limitedWriter takes so many bytes.
type limitedWriter struct{ room int }

func (w *limitedWriter) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		return 0, os.ErrClosed
	}
	return len(p), nil
}
