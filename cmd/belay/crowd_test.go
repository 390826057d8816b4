//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/test/must"
)

// Many runs wait at one gate until it opens, five hundred in make soak: each of them runs, once, and never more at a time
// than there are slots.
func TestCrowd_Waiters(t *testing.T) {
	t.Parallel()
	n, slots := faulttest.Count(t, "BELAY_TEST_WAITERS", 40), 8
	r := newRun(t, 0)
	r.gates("hold", "api", "--until", "1h")
	counts, err := os.Create(filepath.Join(r.dir, "counts"))
	must.OK(t, err)
	defer counts.Close()
	var all sync.WaitGroup
	var failed atomic.Int64
	for range n {
		cmd := r.command("belay-plain", "run", "--gate", "api", "--max-parallel", fmt.Sprint(slots), "--max-wait", "2h", "--quiet", "--", "sh", "-c", ": > run.$$; set -- run.*; echo $#; exec rm run.$$")
		cmd.Stdout = counts
		must.OK(t, cmd.Start())
		all.Go(func() {
			if err := cmd.Wait(); err != nil {
				failed.Add(1)
				t.Errorf("a waiter: %v", err)
			}
		})
	}
	if !within(time.Duration(n)*testTimeout/40, func() bool { return strings.Contains(r.gates(), fmt.Sprintf(" %d ", n)) }) {
		t.Errorf("not all %d wait:\n%s", n, r.gates())
	}
	begun := time.Now()
	r.gates("reset", "api")
	all.Wait()
	lines := strings.Fields(r.file("counts"))
	most := 0
	for _, line := range lines {
		var at int
		fmt.Sscan(line, &at)
		most = max(most, at)
	}
	if len(lines) != n || most > slots {
		t.Errorf("%d of %d have run, up to %d at a time", len(lines), n, most)
	}
	list, torn := r.entries()
	list = slices.DeleteFunc(list, func(e journal.Entry) bool { return e.Kind != "" || e.Attempt != 1 || e.Status != journal.Success })
	if unique(t, list); len(list) != n || torn > 0 {
		t.Errorf("%d of %d are on record, and %d lines are torn", len(list), n, torn)
	}
	if list, _ := os.ReadDir(filepath.Join(r.dir, "state", "runs")); len(list) > 0 {
		t.Errorf("%d records are left", len(list))
	}
	t.Logf("tried %d waiters at one gate; survived %d, within %v of its opening, up to %d at a time", n, n-int(failed.Load()), time.Since(begun).Round(time.Millisecond), most)
}

// Runs that are killed at any moment, one after the other: what they have written is whole, each is on record once at most,
// and the next run cleans up behind them. BELAY_TEST_KILLS says how many.
func TestLog_KillStorm(t *testing.T) {
	t.Parallel()
	kills := faulttest.Kills(t)
	r := newRun(t, 0)
	// Eight at a time take as long as eight runs do on one core, on this machine at this time: some end by themselves.
	begun := time.Now()
	if out, err := r.storm().CombinedOutput(); shellCode(err) > 1 {
		t.Fatalf("%v: %s", err, out)
	}
	longest := 8 * time.Since(begun)
	var left, killed, succeeded atomic.Int64
	left.Store(int64(kills))
	succeeded.Add(1)
	var all sync.WaitGroup
	random := faulttest.Random(t)
	for range 8 {
		all.Go(func() {
			for left.Load() > 0 {
				cmd := r.storm()
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				timer := time.AfterFunc(faulttest.N(random, longest), func() { cmd.Process.Kill() })
				code := shellCode(cmd.Wait())
				timer.Stop()
				switch code {
				case 137:
					killed.Add(1)
					left.Add(-1)
				case 0, 1:
					succeeded.Add(1)
				default:
					t.Errorf("exit code %d", code)
				}
			}
		})
	}
	all.Wait()
	if out, err := r.command("belay-plain", "run", "--", "true").CombinedOutput(); err != nil {
		t.Errorf("the next run: %v: %s", err, out)
	}
	list, torn := r.entries()
	ended := map[string][]journal.Entry{}
	for _, e := range list {
		if e.Kind == "" && e.Status != journal.Retry {
			ended[e.Invocation] = append(ended[e.Invocation], e)
		}
	}
	for _, ends := range ended {
		if len(ends) > 1 {
			t.Errorf("a run has ended %d times: %+v", len(ends), ends)
		}
	}
	if n := int64(len(ended)); n < succeeded.Load()+1 || n > succeeded.Load()+1+killed.Load() || int64(torn) > killed.Load() {
		t.Errorf("%d runs on record and %d torn lines, after %d that ended and %d that were killed", n, torn, succeeded.Load(), killed.Load())
	}
	if list, _ := os.ReadDir(filepath.Join(r.dir, "state", "runs")); len(list) > 0 {
		t.Errorf("%d records are left", len(list))
	}
	if list, _ := filepath.Glob(filepath.Join(r.dir, "state", "*", "*.damaged")); len(list) > 0 {
		t.Errorf("damaged: %v", list)
	}
	t.Logf("tried %d kills among %d runs; survived %d runs on record, %d torn lines", killed.Load(), killed.Load()+succeeded.Load(), len(ended), torn)
}

// storm is a run that has much to write: it fails now and then, and takes part in a gate.
func (r *run) storm() *exec.Cmd {
	return r.command("belay-plain", "run", "--max-retries", "2", "--base-delay", "1ms", "--max-delay", "1ms", "--gate", "api", "--breaker-failures", "1000", "--", "sh", "-c", "exit $(($$ % 2))")
}
