//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/test/must"
)

// entries reads the log of a run's state directory.
func (r *run) entries() (list []journal.Entry, torn int) {
	r.t.Helper()
	f, err := os.Open(filepath.Join(r.dir, "state", "log.jsonl"))
	must.OK(r.t, err)
	defer f.Close()
	for e := range journal.Read(f, &torn) {
		list = append(list, e)
	}
	return list, torn
}

// unique fails if an invocation is on record twice.
func unique(t *testing.T, list []journal.Entry) {
	t.Helper()
	seen := map[string]bool{}
	for _, e := range list {
		if seen[e.Invocation] {
			t.Errorf("invocation %s is there twice", e.Invocation)
		}
		seen[e.Invocation] = true
	}
}

// writers is how many processes write at a time.
func writers(t *testing.T) int { return faulttest.Count(t, "BELAY_TEST_WRITERS", 16) }

// runsEach is how many runs each writer has: a hundred in make soak.
func runsEach() int {
	if os.Getenv("BELAY_TEST_SOAK") != "" {
		return 100
	}
	return 10
}

// Sixteen processes at a time, or as many as make soak wants, with many runs each: no line is lost, none is torn.
func TestLog_ManyAtOnce(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	var all sync.WaitGroup
	for range writers(t) {
		all.Go(func() {
			for range runsEach() {
				if out, err := r.command("belay-plain", "run", "--", "true").CombinedOutput(); err != nil || len(out) > 0 {
					t.Errorf("%v: %s", err, out)
				}
			}
		})
	}
	all.Wait()
	list, torn := r.entries()
	if len(list) != runsEach()*writers(t) || torn != 0 {
		t.Errorf("%d entries, %d torn", len(list), torn)
	}
	t.Logf("tried %d runs of %d writers at a time; survived %d lines of the log", runsEach()*writers(t), writers(t), len(list))
	unique(t, list)
	for _, e := range list {
		if e.Status != journal.Success || e.Attempt != 1 || e.Command != "true" || e.Profile != "generic" || e.Timestamp.IsZero() {
			t.Fatalf("entry %+v", e)
		}
	}
	if records, _ := os.ReadDir(filepath.Join(r.dir, "state", "runs")); len(records) > 0 {
		t.Errorf("%d records are left", len(records))
	}
}

// Killed at any moment, a run leaves at most a torn tail; what others have written is whole, and a run that has
// exited is on record.
func TestLog_KilledHalfWay(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	var (
		all       sync.WaitGroup
		mu        sync.Mutex
		alive     = map[*exec.Cmd]bool{}
		over      bool
		succeeded atomic.Int64
		killed    atomic.Int64
		once      sync.Once
	)
	killAll := func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		for cmd := range alive {
			cmd.Process.Kill()
		}
	}
	for range 16 {
		all.Go(func() {
			for range runsEach() {
				cmd := r.command("belay-plain", "run", "--", "true")
				mu.Lock()
				if over {
					mu.Unlock()
					return
				}
				err := cmd.Start()
				if err != nil {
					mu.Unlock()
					t.Error(err)
					return
				}
				alive[cmd] = true
				mu.Unlock()
				err = cmd.Wait()
				mu.Lock()
				delete(alive, cmd)
				mu.Unlock()
				switch shellCode(err) {
				case 0:
					if succeeded.Add(1) == int64(8*runsEach()) {
						once.Do(killAll)
					}
				case 137:
					killed.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if killed.Load() == 0 {
		t.Log("none was caught alive")
	}
	list, torn := r.entries()
	if n := int64(len(list)); n < succeeded.Load() || n > succeeded.Load()+killed.Load() {
		t.Errorf("%d entries for %d that ended and %d that were killed", n, succeeded.Load(), killed.Load())
	}
	if int64(torn) > killed.Load() {
		t.Errorf("%d torn lines for %d that were killed", torn, killed.Load())
	}
	unique(t, list)

	// The next run cleans up behind them, puts on record those that could not do so themselves, and is on record.
	if out, err := r.command("belay-plain", "run", "--", "true").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	after, _ := r.entries()
	if n := int64(len(after)); n <= int64(len(list)) || n > succeeded.Load()+killed.Load()+1 {
		t.Errorf("%d entries after %d, for %d that ended and %d that were killed", n, len(list), succeeded.Load(), killed.Load())
	}
	unique(t, after)
	if records, _ := os.ReadDir(filepath.Join(r.dir, "state", "runs")); len(records) > 0 {
		t.Errorf("%d records are left", len(records))
	}
}

// Whatever a command is called, its line is one line of JSON, and so is its record while it runs.
func TestLog_StrangeNames(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	names := []string{`quo"te`, `back\slash`, "new\nline", "tab\tand\x01control", "not\xffUTF-8", "日本語", "a b", "-dash", "<b>&amp;", "\u2028",
		"{\"timestamp\":", strings.Repeat("n", 240)}
	for _, name := range names {
		path := filepath.Join(r.dir, name)
		must.OK(t, built.WriteFile(path, []byte("#!/bin/sh\nbelay ps --json\n")))
		out, err := r.command("belay", "run", "--", path).CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v: %s", name, err, out)
		}
		var shown struct{ Command string }
		if err := json.Unmarshal(out, &shown); err != nil || shown.Command != strings.ToValidUTF8(name, "\uFFFD") {
			t.Errorf("%q is shown as %q (%v): %s", name, shown.Command, err, out)
		}
		if out, err := r.command("belay", "run", "--", path+"-missing").CombinedOutput(); shellCode(err) != 127 {
			t.Errorf("%q: %v: %q", name, err, out)
		}
	}
	list, torn := r.entries()
	if len(list) != 2*len(names) || torn != 0 {
		t.Fatalf("%d entries, %d torn", len(list), torn)
	}
	for i, name := range names {
		if got, want := list[2*i].Command, strings.ToValidUTF8(name, "\uFFFD"); got != want {
			t.Errorf("%q is on record as %q", name, got)
		}
	}
}
