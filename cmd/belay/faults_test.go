//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// Runs of real processes that fail in every way that is known, many at a time: exit code, result, output, starts and log are
// those that the README promises, and nothing is left of a run, be it a process or a file. Some leave a process in the
// background, some are interrupted. BELAY_TEST_PROCESS_FAULTS says how many faults there are, BELAY_TEST_SEED where the
// seeds begin.
func TestFaults(t *testing.T) {
	t.Parallel()
	faults, seed := faulttest.Count(t, "BELAY_TEST_PROCESS_FAULTS", 50), uint64(faulttest.Count(t, "BELAY_TEST_SEED", 1))
	players := buildPlayers(t)
	tried, runs, starts, wrong := 0, 0, 0, 0
	for tried < faults && !t.Failed() {
		for _, f := range playProcesses(t, players, seed, min(100, 3+faults-tried)) {
			runs++
			starts += f.starts
			tried += f.faults()
			if len(f.wrong) > 0 {
				wrong++
				t.Errorf("%v\n\t%s\n%s", f, strings.Join(f.wrong, "\n\t"), f.stderr.String())
			}
			seed++
		}
	}
	t.Logf("tried %d faults in %d runs with %d starts; survived %d of the runs", tried, runs, starts, runs-wrong)
}

// buildPlayers makes a directory with the commands that play a part.
func buildPlayers(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "player"), "../../internal/faulttest/player")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range faulttest.Names() {
		must.OK(t, os.Symlink("player", filepath.Join(dir, name)))
	}
	return dir
}

// processRun is one run of real processes.
type processRun struct {
	*faulttest.Run
	want   *faulttest.Expected
	dir    string
	signal syscall.Signal // that belay is sent; 0 means none
	after  time.Duration
	leaves []string // what each attempt leaves in the background

	id             string
	code           int
	result         report
	stdout, stderr bytes.Buffer
	starts         int
	wrong          []string
}

// playProcesses plays n runs that share a state directory.
func playProcesses(t *testing.T, players string, seed uint64, n int) []*processRun {
	t.Helper()
	r := newRun(t, int(seed))
	r.env = []string{"PATH=" + programs(r.t) + ":" + players + ":" + os.Getenv("PATH")}
	list := make([]*processRun, n)
	slots := make(chan struct{}, 8)
	var all sync.WaitGroup
	for i := range list {
		f := &processRun{Run: faulttest.New(seed+uint64(i), faulttest.Real)}
		list[i], f.want, f.dir = f, f.Expect(), filepath.Join(r.dir, fmt.Sprint("run", i))
		c := rand.New(rand.NewPCG(f.Seed, 1))
		if c.IntN(12) == 0 {
			f.signal, f.after = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}[c.IntN(3)], time.Duration(c.IntN(60))*time.Millisecond
		}
		for range f.want.Attempts {
			f.leaves = append(f.leaves, []string{"", "", "", "", "", "", "group", "session"}[c.IntN(8)])
		}
		slots <- struct{}{}
		all.Go(func() {
			f.play(r)
			<-slots
		})
	}
	all.Wait()
	lines := map[string][]journal.Entry{}
	entries, torn := r.entries()
	for _, e := range entries {
		if e.Kind == "" {
			lines[e.Invocation] = append(lines[e.Invocation], e)
		}
	}
	for _, f := range list {
		f.check(lines[f.id])
		delete(lines, f.id)
	}
	if len(lines) > 0 || torn > 0 {
		t.Errorf("%d runs are on record that were not made, and %d lines are torn: %v", len(lines), torn, lines)
	}
	if left := marked(idVar + "=" + r.id); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	for _, pattern := range []string{"state/runs/*", "state/held-*", "state/*.new", "state/*/*.new", ".tmp/*"} {
		if left, _ := filepath.Glob(filepath.Join(r.dir, pattern)); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	return list
}

// play runs it to its end.
func (f *processRun) play(r *run) {
	var attempts []faulttest.Played
	for i, a := range f.want.Attempts {
		attempts = append(attempts, faulttest.Played{Ops: a.Fault.Ops, Code: a.Fault.Code, Signal: a.Fault.Signal, Session: a.Session, Leaves: f.leaves[i]})
	}
	data, err := json.Marshal(attempts)
	if err == nil {
		err = os.Mkdir(f.dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(f.dir, "attempts.json"), data, 0o600)
	}
	if err != nil {
		f.bad("%v", err)
		return
	}
	cmd := r.command("belay-plain", f.args()...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = f.dir, &f.stdout, &f.stderr
	cmd.Env = append(cmd.Env, "FAULT_DIR="+f.dir)
	if err := cmd.Start(); err != nil {
		f.bad("%v", err)
		return
	}
	late := time.AfterFunc(2*testTimeout, func() {
		f.bad("it did not end")
		cmd.Process.Kill()
	})
	if f.signal != 0 {
		time.AfterFunc(f.after, func() { cmd.Process.Signal(f.signal) })
	}
	f.code = shellCode(cmd.Wait())
	late.Stop()
	if data, err = os.ReadFile(filepath.Join(f.dir, "result")); err == nil {
		err = json.Unmarshal(data, &f.result)
	}
	if err != nil && f.signal == 0 {
		f.bad("%v", err)
	}
	f.id = f.result.ID
	starts, _ := filepath.Glob(filepath.Join(f.dir, "start.*"))
	f.starts = len(starts)
}

// args are the arguments of belay.
func (f *processRun) args() []string {
	p := &f.Policy
	args := []string{"run", "--result-file", "result", "--no-gate", "--log-dir", "none", "--reap", "--jitter", "none", "--max-retries", strconv.Itoa(max(p.MaxRetries, 0)),
		"--base-delay", p.BaseDelay.String(), "--max-delay", p.MaxDelay.String(), "--factor", fmt.Sprint(p.Factor), "--timeout", p.Timeout.String(),
		"--retry-timeouts", strconv.Itoa(p.RetryTimeouts), "--stall-timeout", f.Stall.String()}
	if p.MaxWait > 0 {
		args = append(args, "--max-wait", p.MaxWait.String())
	}
	return append(append(args, "--"), f.Args()...)
}

func (f *processRun) bad(format string, args ...any) {
	f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
}

// faults is how many there were.
func (f *processRun) faults() (n int) {
	for _, a := range f.want.Attempts[:min(f.starts, len(f.want.Attempts))] {
		if n += len(a.Fault.Inner); a.Class != verdict.OK {
			n++
		}
	}
	if f.signal != 0 {
		n++
	}
	return n
}

// String tells what the run is, and how to repeat it.
func (f *processRun) String() string {
	var names []string
	for i, a := range f.want.Attempts {
		names = append(names, a.Fault.Name+" "+f.leaves[i])
	}
	return fmt.Sprintf("BELAY_TEST_SEED=%d: %s; %s; signal %d after %v: belay %s", f.Seed, strings.Join(names, ", "), f.want.Why, f.signal, f.after, strings.Join(f.args(), " "))
}
