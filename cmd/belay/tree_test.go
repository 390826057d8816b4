//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/test/must"
)

// run is one start of belay with its stdout on a pipe.
type run struct {
	t      *testing.T
	dir    string
	id     string
	env    []string // in addition
	stdin  *os.File
	cmd    *exec.Cmd
	out    *bufio.Reader
	stderr *os.File
}

func newRun(t *testing.T, round int) *run {
	t.Helper()
	r := &run{t: t, dir: t.TempDir(), id: fmt.Sprintf("%s-%d-%d", strings.ReplaceAll(t.Name(), "/", "-"), round, os.Getpid())}
	for _, name := range []string{"home", ".tmp"} {
		must.OK(t, os.Mkdir(filepath.Join(r.dir, name), 0o700))
	}
	t.Cleanup(func() { afterwards(t, r.dir, r.id) })
	return r
}

// command is a command in the run's surroundings.
func (r *run) command(name string, args ...string) *exec.Cmd {
	env := append(environment(programs(r.t), r.dir, r.id), r.env...)
	cmd := exec.Command(lookIn(env, name), args...)
	cmd.Dir, cmd.Env = r.dir, env
	return cmd
}

func (r *run) start(name string, args ...string) {
	r.t.Helper()
	r.cmd = r.command(name, args...)
	pr, pw, err := os.Pipe()
	must.OK(r.t, err)
	r.t.Cleanup(func() { pr.Close() })
	r.out = bufio.NewReader(pr)
	r.cmd.Stdout = pw
	if r.stdin != nil {
		r.cmd.Stdin = r.stdin
	}
	if r.stderr, err = os.Create(filepath.Join(r.dir, "stderr")); err != nil {
		r.t.Fatal(err)
	}
	r.cmd.Stderr = r.stderr
	err = r.cmd.Start()
	pw.Close()
	r.stderr.Close()
	must.OK(r.t, err)
	late := time.AfterFunc(testTimeout, func() { r.cmd.Process.Kill() })
	r.t.Cleanup(func() { late.Stop() })
}

// line waits for a line of output.
func (r *run) line(want string) {
	r.t.Helper()
	if got, err := r.out.ReadString('\n'); err != nil || got != want+"\n" {
		r.t.Fatalf("%q, %v; want %q\n%s", got, err, want, r.said())
	}
}

func (r *run) said() string {
	text, _ := os.ReadFile(filepath.Join(r.dir, "stderr"))
	return string(text)
}

// ends waits for the end of belay and for that of its output.
func (r *run) ends(code int) {
	r.t.Helper()
	rest := make(chan struct{})
	go func() { io.Copy(io.Discard, r.out); close(rest) }()
	if got := shellCode(r.cmd.Wait()); got != code {
		r.t.Errorf("exit code %d, want %d\n%s", got, code, r.said())
	}
	// What belay has killed is dead when belay says so, and holds nothing.
	select {
	case <-rest:
	case <-time.After(testTimeout):
		r.t.Errorf("somebody holds the output open: %v", marked(idVar+"="+r.id))
	}
}

// noneLeft checks that no process is left of the run.
func (r *run) noneLeft(when string) {
	r.t.Helper()
	if left := marked(idVar + "=" + r.id); len(left) > 0 {
		r.t.Errorf("%s, but still alive: %v\n%s", when, left, r.said())
	}
	for _, p := range inside(r.dir) {
		r.t.Errorf("%s, but still alive: %v, which has no mark\n%s", when, p, r.said())
		unix.Kill(p.pid, unix.SIGKILL)
	}
}

// A signal that comes at any moment of a short run ends it or comes too late; belay never hangs and leaves nothing.
func TestTree_SignalAtAnyMoment(t *testing.T) {
	t.Parallel()
	for i := range 5 * rounds(t) {
		r := newRun(t, i)
		r.start("belay", "run", "--max-retries", "1", "--base-delay", "5ms", "--jitter", "none", "--", "sh", "-c", "sleep 0.01; exit 1")
		time.Sleep(time.Duration(i%50) * time.Millisecond)
		r.cmd.Process.Signal(syscall.SIGTERM)
		io.Copy(io.Discard, r.out)
		if code := shellCode(r.cmd.Wait()); code != 143 && code != 1 {
			t.Errorf("exit code %d\n%s", code, r.said())
		}
		r.noneLeft("belay has ended")
		if records, _ := os.ReadDir(filepath.Join(r.dir, "state", "runs")); len(records) > 0 && r.said() != "" {
			t.Errorf("a record is left")
		}
	}
}

// A command that ends when its time is up has ended or was stopped; nothing between.
func TestTree_TimeoutAtTheEnd(t *testing.T) {
	t.Parallel()
	for i := range 3 * rounds(t) {
		r := newRun(t, i)
		r.start("belay", "run", "--timeout", "60ms", "--", "sh", "-c", "sleep 0.05; echo done; exit 3")
		out, _ := io.ReadAll(r.out)
		switch code := shellCode(r.cmd.Wait()); {
		case code == 3 && string(out) == "done\n" && r.said() == "":
		case code == 124 && strings.Contains(r.said(), "exceeded its timeout"):
		default:
			t.Errorf("exit code %d, %q, %q", code, out, r.said())
		}
		r.noneLeft("belay has ended")
	}
}
