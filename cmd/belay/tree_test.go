//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// shapes are process trees that are hard to end, for what TestTrees does not ask: exit codes, the end of the output, other
// ways to stop, and races. Each says "ready" when all of it runs.
var shapes = []struct{ name, script string }{
	{"SetsidHoldingStdout", `setsid sleep 300 & setsid sh -c 'sleep 300 & wait' & echo ready; wait`},
	{"Orphan", orphan + `echo ready; sleep 300`},
	{"OrphanDaemon", `env -i setsid sh -c 'setsid sh -c "sleep 300 & : > orphan; sleep 300" > /dev/null 2>&1 & exit'
		while [ ! -e orphan ]; do sleep 0.01; done; echo ready; sleep 300`},
	{"RootGoneFirst", `setsid sh -c 'trap "" TERM INT HUP; while :; do sleep 0.3; done' & echo ready; exec sleep 300`},
	// Each generation forks the next and ends, in a session of its own: a walk over the process table can miss
	// it. It ends by itself after some seconds.
	{"ForkingChain", `perl -MPOSIX -e '$| = 1; print "ready\n"; for (1..4000) { exit 0 if fork; POSIX::setsid(); select undef, undef, undef, 0.002 }' &
		sleep 300`},
}

// stops are the ways in which a run is ended from outside.
var stops = []struct {
	name  string
	flags []string
	sig   syscall.Signal
	code  int
}{
	{"Timeout", []string{"--timeout", "400ms"}, 0, 124},
	{"Stall", []string{"--stall-timeout", "400ms"}, 0, 124},
	{"TotalTimeout", []string{"--total-timeout", "400ms"}, 0, 124},
	{"Retried", []string{"--timeout", "400ms", "--retry-timeouts", "3", "--base-delay", "0"}, 0, 124},
	{"SIGINT", nil, syscall.SIGINT, 130},
	{"SIGTERM", nil, syscall.SIGTERM, 143},
	{"SIGHUP", nil, syscall.SIGHUP, 129},
	{"SIGTERMHeld", []string{"--max-retries", "3", "--stream"}, syscall.SIGTERM, 143},
}

// When belay ends because something was stopped, nothing of the tree is alive, and its output has ended. In make test it is one of three pairs, among which
// each shape and each way to stop are.
func TestTree_Stopped(t *testing.T) {
	t.Parallel()
	for i, shape := range shapes {
		for j, stop := range stops {
			if (i+j)%3 != 0 && rounds(t) < 10 {
				continue
			}
			t.Run(shape.name+"/"+stop.name, func(t *testing.T) {
				t.Parallel()
				for i := range max(1, rounds(t)/5) {
					stopTree(t, shape.script, stop.flags, stop.sig, stop.code, i)
				}
			})
		}
	}
}

func stopTree(t *testing.T, script string, flags []string, sig syscall.Signal, code, round int) {
	t.Helper()
	r := newRun(t, round)
	args := append(append([]string{"run"}, flags...), "--", "sh", "-c", script)
	r.start("belay", args...)
	if sig != 0 {
		r.line("ready")
		r.cmd.Process.Signal(sig)
	}
	r.ends(code)
	r.noneLeft("belay has ended")
}

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
		if err := os.Mkdir(filepath.Join(r.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		r.t.Fatal(err)
	}
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
	if err != nil {
		r.t.Fatal(err)
	}
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

// What ignores every polite signal is killed after its time is up, not before.
func TestTree_Stubborn(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	begun := time.Now()
	// Three seconds, so that it has its traps by then.
	r.start("belay", "run", "--timeout", "3s", "--", "sh", "-c",
		`trap "" TERM INT HUP; setsid sleep 300 & sleep 300 & echo ready; while :; do sleep 0.2; done`)
	r.line("ready")
	r.ends(124)
	r.noneLeft("belay has ended")
	if took := time.Since(begun); took < 8*time.Second {
		t.Errorf("it took %v", took)
	}
}

// survivor is a run whose tree outlives a killed belay: it is not the child itself, and it ignores what the child's
// end sends it.
const survivor = `setsid sh -c 'trap "" TERM INT HUP; echo ready; while :; do sleep 0.2; done' & wait`

// A belay that was killed leaves a tree; the next one ends it, and leaves those of others alone.
func TestTree_BelayKilled(t *testing.T) {
	t.Parallel()
	for _, way := range []struct {
		name string
		args []string
	}{{"NextRun", []string{"run", "--", "true"}}, {"PsReap", []string{"ps", "--reap"}}} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			for i := range max(1, rounds(t)/3) {
				reclaim(t, i, way.args)
			}
		})
	}
}

func reclaim(t *testing.T, round int, args []string) {
	t.Helper()
	r := newRun(t, round)
	// Another run, of the same state directory, lives on.
	other := r.command("belay", "run", "--", "sh", "-c", "echo ready > other.ready; exec sleep 300")
	other.Env = append(other.Env, "OTHER="+r.id)
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		other.Process.Signal(syscall.SIGTERM)
		if code := shellCode(other.Wait()); code != 143 {
			t.Errorf("the other run ended with %d", code)
		}
	}()
	eventually(t, "the other run runs", func() bool {
		_, err := os.Stat(filepath.Join(r.dir, "other.ready"))
		return err == nil
	})
	bystander := r.command("sleep", "300") // of no run
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer bystander.Wait()
	defer bystander.Process.Kill()

	r.start("env", "KILLED="+r.id, "belay", "run", "--", "sh", "-c", survivor)
	r.line("ready")
	r.cmd.Process.Kill()
	r.cmd.Wait()
	if len(marked("KILLED="+r.id)) == 0 {
		t.Fatal("nothing has survived: the test proves nothing")
	}
	next := r.command("belay", args...)
	out, err := next.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "ended") {
		t.Errorf("%v: %s", err, out)
	}
	if left := marked("KILLED=" + r.id); len(left) > 0 {
		t.Errorf("still alive: %v", left)
	}
	if len(marked("OTHER="+r.id)) != 2 {
		t.Errorf("the other run is gone: %v", marked("OTHER="+r.id))
	}
	if !running(bystander.Process.Pid) {
		t.Error("a bystander is gone")
	}
	// Once is enough.
	if out, err := r.command("belay", args...).CombinedOutput(); err != nil || strings.Contains(string(out), "ended") {
		t.Errorf("again: %v: %s", err, out)
	}
	records, _ := os.ReadDir(filepath.Join(r.dir, "state", "runs"))
	if len(records) != 1 {
		t.Errorf("%d records, want the other run's", len(records))
	}
}

// Sixteen that start at once after a kill clean up together and do not hurt each other.
func TestTree_BelayKilledManyCleanUp(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	r.start("env", "KILLED="+r.id, "belay", "run", "--", "sh", "-c", survivor)
	r.line("ready")
	r.cmd.Process.Kill()
	r.cmd.Wait()
	var all []*exec.Cmd
	for i := range 16 {
		cmd := r.command("belay", "run", "--", "sh", "-c", fmt.Sprintf("exit %d", i))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for i, cmd := range all {
		if code := shellCode(cmd.Wait()); code != i {
			t.Errorf("run %d ended with %d", i, code)
		}
	}
	r.noneLeft("all have ended")
}

// Runs nest: a killed outer belay takes the inner one, and its tree, with it.
func TestTree_NestedOuterKilled(t *testing.T) {
	t.Parallel()
	for i := range max(1, rounds(t)/3) {
		r := newRun(t, i)
		r.start("belay", "run", "--", "belay", "run", "--", "sh", "-c", survivor)
		r.line("ready")
		r.cmd.Process.Kill()
		r.cmd.Wait()
		eventually(t, "the inner belay has ended its tree", func() bool { return len(marked(idVar+"="+r.id)) == 0 })
	}
}

// A nested run that is stopped from outside ends from the inside out.
func TestTree_NestedStopped(t *testing.T) {
	t.Parallel()
	for i := range max(1, rounds(t)/3) {
		r := newRun(t, i)
		r.start("belay", "run", "--", "belay", "run", "--max-retries", "2", "--", "sh", "-c",
			`setsid sleep 300 & echo ready > ready; wait`)
		eventually(t, "it is ready", func() bool {
			_, err := os.Stat(filepath.Join(r.dir, "ready"))
			return err == nil
		})
		r.cmd.Process.Signal(syscall.SIGTERM)
		r.ends(143)
		r.noneLeft("belay has ended")
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

// What a command prints just before it ends is not lost, also if another process keeps the pipe open.
func TestTree_LastWords(t *testing.T) {
	t.Parallel()
	for i := range rounds(t) {
		for _, flags := range []string{"--max-retries 1", "--max-retries 1 --stream", "--stall-timeout 60", "--fail-on never-printed"} {
			r := newRun(t, i)
			r.start("bash", "-c", "belay run "+flags+` -- sh -c 'sleep 300 & echo $! > left.pid; seq 30000; echo last words'`)
			out, _ := io.ReadAll(r.out)
			if code := shellCode(r.cmd.Wait()); code != 0 || !strings.HasSuffix(string(out), "\n30000\nlast words\n") || len(out) != 168894+11 {
				t.Errorf("%s: exit code %d, %d bytes\n%s", flags, code, len(out), r.said())
			}
			text, err := os.ReadFile(filepath.Join(r.dir, "left.pid"))
			pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil || pid <= 1 {
				t.Fatal(err)
			}
			unix.Kill(pid, unix.SIGKILL)
			eventually(t, "the one left behind is gone", func() bool { return !running(pid) })
		}
	}
}
