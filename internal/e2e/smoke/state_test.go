package smoke_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must.OK(t, err)
	return data
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.OK(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
}

func TestGates(t *testing.T) {
	s := newScene(t)
	for _, gate := range []string{"api", "con", "claude:api.anthropic.com:3fa9c1:opus"} {
		through := []string{"--gate", gate, "--no-wait"}
		s.want(s.run(through, "print", "x"), 0, "x")
		s.want(s.belay("gates", "hold", gate, "--until", "1h", "--reason", "maintenance"), 0, "*")
		held := s.run(through, "print", "x")
		s.want(held, 75, "")
		if !strings.Contains(held.stderr, "maintenance") {
			t.Error(held.stderr)
		}
		s.want(s.belay("gates", "reset", gate), 0, "*")
		s.want(s.run(through, "print", "x"), 0, "x")
	}
}

func TestGates_Breaker(t *testing.T) {
	s := newScene(t)
	through := []string{"--gate", "api", "--no-wait", "--breaker-failures", "2", "--breaker-open", "1h", "--max-retries", "0", "--retry-on-exit", "3"}
	s.want(s.run(through, "exit", "3"), 3, "")
	s.want(s.run(through, "exit", "3"), 3, "")
	s.want(s.run(through, "print", "x"), 75, "")
}

// Many processes change one gate at the same time, and none of them fails for that.
func TestGates_Crowd(t *testing.T) {
	s := newScene(t)
	const crowd, rounds = 8, 3
	for range rounds {
		var calls []*call
		for range crowd {
			calls = append(calls, s.start(nil, runLine([]string{"--gate", "api", "--max-parallel", "3", "--breaker-failures", "1000", "--max-retries", "1",
				"--base-delay", "0", "--jitter", "none", "--verbose"}, "exit", "1")...))
		}
		for _, c := range calls {
			got := c.wait()
			s.want(got, 1, "")
			for _, trouble := range []string{"gate is not used", "cannot", "could not"} {
				if strings.Contains(got.stderr, trouble) {
					t.Error(got.stderr)
				}
			}
		}
	}
	if log := lines[struct{}](s, "log", "--json", "-n", "0"); len(log) != crowd*rounds {
		t.Errorf("the log has %d runs", len(log))
	}
}

// One run of a scope at a time; the one that waits says which one has it.
func TestScope(t *testing.T) {
	e := newScene(t).exchange()
	c, tree := e.branch("--scope", "deploy", "--reap")
	busy := e.run([]string{"--scope", "deploy", "--on-busy", "fail"}, "print", "x")
	e.want(busy, 75, "")
	tree[0].exit(0)
	e.want(c.wait(), 0, "")
	e.want(e.run([]string{"--scope", "deploy", "--on-busy", "fail"}, "print", "x"), 0, "x")
}

func TestRecord(t *testing.T) {
	s := newScene(t)
	s.want(s.run([]string{"--name", "first", "--tag", "team=web"}, "print", "x"), 0, "x")
	s.want(s.run([]string{"--max-retries", "1", "--base-delay", "0"}, "exit", "1"), 1, "")
	s.want(s.belay("hook", "--name", "check", "--", self, childWord, "exit", "1"), 0, "*")
	log := lines[struct {
		Class    string `json:"class"`
		Attempts int    `json:"attempts"`
	}](s, "log", "--json")
	if len(log) != 2 || log[0].Class != "ok" || log[1].Class == "ok" || log[1].Attempts != 2 {
		t.Errorf("the log has %+v", log)
	}
	stats := lines[struct {
		Total struct {
			Runs      int `json:"invocations"`
			Succeeded int `json:"succeeded"`
			Attempts  int `json:"attempts"`
		} `json:"total"`
	}](s, "stats", "--json")
	if total := stats[0].Total; total.Runs != 2 || total.Succeeded != 1 || total.Attempts != 3 {
		t.Errorf("stats has %+v", total)
	}
	if events := lines[struct{}](s, "events", "--json", "--category", "hook"); len(events) != 1 {
		t.Errorf("the record has %d failures of hooks", len(events))
	}
	for _, args := range [][]string{{"log"}, {"stats"}, {"stats", "--by", "tag.team"}, {"sessions"}, {"alerts"}, {"gates"}, {"top"}, {"config"}, {"doctor"}} {
		if got := s.belay(args...); got.code != 0 {
			t.Errorf("belay %q: %+v", args, got)
		}
	}
}

// Two of them fold the log at the same time.
func TestRecord_Crowd(t *testing.T) {
	s := newScene(t)
	for i := range 3 {
		s.want(s.run(nil, "exit", strconv.Itoa(i)), i, "")
	}
	var calls []*call
	for range 4 {
		calls = append(calls, s.start(nil, "stats", "--json"))
	}
	for _, c := range calls {
		got := c.wait()
		s.want(got, 0, "*")
		if !strings.Contains(got.stdout, `"invocations":3`) {
			t.Error(got)
		}
	}
}

func TestHook(t *testing.T) {
	s := newScene(t)
	hook := func(args ...string) []string { return append([]string{"hook", "--"}, command(args...)...) }
	s.want(s.start(strings.NewReader(`{"a":1}`), hook("cat")...).wait(), 0, `{"a":1}`)
	s.want(s.belay(hook("exit", "2")...), 2, "")
	s.want(s.belay(hook("exit", "1")...), 0, "*")
	s.want(s.belay("hook", "--", "no-such-command"), 0, "*")
	s.want(s.belay("hook", "--fail-closed", "--", "no-such-command"), 2, "*")
}

func TestHook_Tree(t *testing.T) {
	e := newScene(t).exchange()
	c := e.start(nil, append([]string{"hook", "--timeout", "3s", "--"}, command("tree", e.address(), "2")...)...)
	tree := e.members(generations)
	e.want(c.wait(), 0, "*")
	e.gone(tree)

	c = e.start(nil, append([]string{"hook", "--"}, command("tree", e.address(), "2")...)...)
	tree = e.members(generations)
	tree[0].exit(0)
	e.want(c.wait(), 0, "")
	e.gone(tree)
}

// The settings of the user's file hold.
func TestConfig(t *testing.T) {
	s := newScene(t)
	write(t, filepath.Join(s.dir, "config", "belay", "config.toml"), "max_retries = 2\r\nbase_delay = 0\r\n")
	s.want(s.run(nil, "attempt", filepath.Join(s.dir, "attempts"), "3"), 0, "attempt 3")
}
