//go:build linux

package upgrade_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// versions are a stage's commands `belay args`, of 52c78ef and of the present version.
func versions(t *testing.T, s *stage.Stage) map[string]func(args ...string) *exec.Cmd {
	t.Helper()
	dir := oldBin(t)
	return map[string]func(args ...string) *exec.Cmd{
		"old": func(args ...string) *exec.Cmd {
			cmd := s.Command("belay", args...)
			cmd.Path = filepath.Join(dir, "belay")
			cmd.Args[0] = cmd.Path
			return cmd
		},
		"new": func(args ...string) *exec.Cmd { return s.Command("belay", args...) },
	}
}

// Both versions run side by side in one state directory, most of them through one gate with four slots, and both fold
// whenever a run fails: nothing of the log is lost or folded twice, and never do more run than the gate has slots.
func TestBeside(t *testing.T) {
	t.Parallel()
	s := stage.New(t, "200")
	s.Env = []string{"BELAY_FOLD=on"}
	gated := s.File("gated.sh", "#!/bin/sh\necho + >>places\nsleep 0.02\necho - >>places\nexit $1\n")
	gate := []string{"run", "--gate", "shared", "--max-parallel", "4", "--max-wait", "30s"}
	kinds := []struct {
		args []string
		code int
	}{
		{slices.Concat(gate, []string{"--", gated, "0"}), 0},
		{slices.Concat(gate, []string{"--max-retries", "1", "--retry-on-exit", "75", "--", gated, "3"}), 3}, // for good
		{slices.Concat(gate, []string{"--", gated, "0"}), 0},
		{[]string{"run", "--max-retries", "1", "--base-delay", "0.01", "--", "sh", "-c", "exit 4"}, 4}, // twice
	}
	const each = 5 // runs of every kind, by both
	var wg sync.WaitGroup
	slots := make(chan struct{}, 6) // more than the gate has: some have to wait
	for name, command := range versions(t, s) {
		for i := range each * len(kinds) {
			wg.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				kind := kinds[i%len(kinds)]
				if r := s.Start(command(kind.args...), nil).Quietly(); r.Code != kind.code {
					t.Errorf("%s: exit code %d, want %d\n%s", name, r.Code, kind.code, r.Stderr)
				}
			})
		}
	}
	wg.Wait()
	places, _ := os.ReadFile(filepath.Join(s.Work, "places"))
	now, most := 0, 0
	for line := range strings.Lines(string(places)) {
		now += map[string]int{"+\n": 1, "-\n": -1}[line]
		most = max(most, now)
	}
	if starts := strings.Count(string(places), "+"); most > 4 || now != 0 || starts != 6*each {
		t.Errorf("%d have started, %d of them at the same time", starts, most)
	}
	s.Eventually("those who fold have ended", func() bool { return len(s.Left()) == 0 })
	runs := ask(s, "log", "--json", "-n", "0")
	ended := map[any]int{}
	for _, r := range runs {
		ended[r["status"]]++
	}
	if len(runs) != 8*each || ended["success"] != 4*each || ended["error"] != 2*each || ended["exhausted"] != 2*each {
		t.Errorf("%d runs are on record: %v", len(runs), ended)
	}
	total := ask(s, "stats", "--json")[0]["total"].(object)
	if total["invocations"] != 8.0*each || total["attempts"] != 10.0*each || total["succeeded"] != 4.0*each {
		t.Errorf("the figures are %v", total)
	}
	if failures := ask(s, "events", "--json", "-n", "0"); len(failures) != 4*each {
		t.Errorf("%d failures are on record, want %d", len(failures), 4*each)
	}
	foldedOnce(s)
	if aside, _ := filepath.Glob(filepath.Join(s.State, "*.damaged*")); len(aside) > 0 {
		t.Errorf("set aside: %v", aside)
	}
	// The database is the present version's now: 52c78ef says so, and leaves it alone.
	r := s.Start(versions(t, s)["old"]("log"), nil).Quietly()
	if r.Code != 125 || !strings.Contains(r.Stderr, "the record was made by a newer belay") {
		t.Errorf("52c78ef: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	foldedOnce(s)
}

// What the present version has written 52c78ef can read: log, gates, runs under way and runs that were killed.
func TestBeside_OldReads(t *testing.T) {
	t.Parallel()
	s := stage.New(t, "200")
	s.Env = []string{"BELAY_FOLD=off"}
	v := versions(t, s)
	does := func(code int, version string, args ...string) string {
		t.Helper()
		r := s.Start(v[version](args...), nil).Wait()
		r.Exits(code)
		return r.Stdout
	}
	begun := func() {
		t.Helper()
		s.Eventually("it runs", func() bool {
			list, _ := filepath.Glob(filepath.Join(s.State, "runs", "*"))
			return len(list) == 1 && s.Runs("sleep 300")
		})
		if list := does(0, "old", "ps", "--json"); !strings.Contains(list, `"sleep"`) {
			t.Errorf("52c78ef does not list it: %s", list)
		}
	}
	rules := filepath.Join(s.Dir, "config", "belay", "config.toml")
	must.OK(t, put(rules, []byte(config)))
	for range 5 {
		does(9, "new", "run", "--gate", "failing", "--max-retries", "0", "--", "sh", "-c", "echo the registry is busy >&2; exit 9")
	}
	does(0, "new", "run", "--", "true")
	does(0, "new", "hook", "--name", "lint", "--", "sh", "-c", "exit 1")
	does(0, "new", "gates", "hold", "held", "--until", "1h", "--reason", "a freeze")
	does(0, "new", "gates", "open", "opened", "--reason", "an audit")
	for _, key := range []string{"held", "opened", "failing"} {
		does(75, "old", "run", "--gate", key, "--no-wait", "--", "true")
		does(0, "old", "gates", "reset", key)
		does(0, "new", "run", "--gate", key, "--no-wait", "--", "true")
	}
	// A run under way can be seen and stopped, one that was killed is cleaned up.
	running := s.Start(v["new"]("run", "--", "sleep", "300"), nil)
	begun()
	id := lines(t, does(0, "old", "ps", "--json"))[0]["id"].(string)
	does(0, "old", "cancel", id)
	if r := running.Quietly(); r.Code != 143 {
		t.Errorf("cancelled: exit code %d", r.Code)
	}
	running = s.Start(v["new"]("run", "--", "sleep", "300"), nil)
	begun()
	running.Signal(syscall.SIGKILL)
	running.Quietly()
	does(0, "old", "ps", "--reap")
	if left, _ := filepath.Glob(filepath.Join(s.State, "runs", "*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	// All of the log is folded by 52c78ef, and the present version goes on from there.
	want := lines(t, does(0, "old", questions["log"]...))
	got := ask(s, questions["log"]...)
	if len(got) != len(want) || len(got) < 9 {
		t.Errorf("%d runs, 52c78ef has found %d", len(got), len(want))
	}
	for i := range want {
		holds(t, "log", want[i], got[i])
	}
	foldedOnce(s)
}

// A session that the present version has begun 52c78ef goes on with, and the other way round.
func TestBeside_Session(t *testing.T) {
	t.Parallel()
	s := stage.Claude.New(t, "", "200(in=50, out=5)x*")
	v := versions(t, s)
	prompts := []string{"remember plum", "remember pear", "what was it?"}
	for i, version := range []string{"new", "old", "new"} {
		args := []string{"run", "--", "claude", "-p", prompts[i]}
		if i > 0 {
			args = slices.Insert(args, 1, "--resume", "last")
		}
		s.Start(v[version](args...), nil).Wait().Exits(0)
		s.ToldOnce(prompts[:i+1]...)
	}
	id := sessionWith(s, prompts[0])
	s.OnRecord(id, "done")
	found := ask(s, "sessions", "--json", id)
	if len(found) != 1 || found[0]["invocations"] != 3.0 || found[0]["usage"].(object)["input_tokens"] != 150.0 {
		t.Errorf("%v", found)
	}
}
