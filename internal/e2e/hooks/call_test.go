//go:build linux

package hooks_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

const event = `{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}` + "\n"

// hook calls belay hook as an agent does.
func hook(s *stage.Stage, args ...string) *stage.Ran {
	s.T.Helper()
	return s.Start(s.Command("belay", append([]string{"hook"}, args...)...), strings.NewReader(event)).Quietly()
}

// Fifty calls at once, of all kinds: each ends as it should, every failure is on record once, no process is left.
func TestCall_FiftyAtOnce(t *testing.T) {
	t.Parallel()
	s := stage.New(t, "200")
	kinds := []struct {
		script, stdout string
		code           int
		class          string
	}{
		{"cat", event, 0, ""},
		{"echo no >&2; exit 2", "", 2, ""},
		{"exit 1", "", 0, "unknown"},
		{"setsid sleep 300 & echo '{\"a\":1}'", "{\"a\":1}\n", 0, ""},
		{"echo '{'; sleep 0.1; kill -9 $$", "", 0, "crash"},
	}
	var wg sync.WaitGroup
	for i := range 50 {
		k := kinds[i%len(kinds)]
		wg.Go(func() {
			r := hook(s, "--name", fmt.Sprint("h", i), "--timeout", "60s", "--", "sh", "-c", k.script)
			if r.Code != k.code || r.Stdout != k.stdout {
				t.Errorf("%s: exit code %d, stdout %q, stderr %q", k.script, r.Code, r.Stdout, r.Stderr)
			}
		})
	}
	wg.Wait()
	seen := map[string]string{}
	for _, e := range failures(s) {
		seen[e.Profile] += e.ErrorType
	}
	for i := range 50 {
		if got, want := seen[fmt.Sprint("hook:h", i)], kinds[i%len(kinds)].class; got != want {
			t.Errorf("call %d is on record as %q, want %q", i, got, want)
		}
	}
	s.NobodyLeft()
}

// A hook that fails again and again raises an alert, once.
func TestCall_Alert(t *testing.T) {
	t.Parallel()
	s := stage.New(t, "200")
	for i := range 7 {
		r := hook(s, "--name", "bad", "--", "sh", "-c", "exit 1")
		if says := strings.Contains(r.Stderr, "alert: hook:bad failed 5 times in the last 10m"); r.Code != 0 || says != (i == 4) {
			t.Errorf("call %d: exit code %d, %q", i+1, r.Code, r.Stderr)
		}
	}
	var alerts []entry
	for _, e := range onRecord(s) {
		if e.Kind == "alert" {
			alerts = append(alerts, e)
		}
	}
	if len(alerts) != 1 || alerts[0].Profile != "hook:bad" || alerts[0].Event != "raised" {
		t.Errorf("on record: %+v", alerts)
	}
}

// As long as all is well nothing is left in the state directory. A call that takes a while has a record until it ends.
func TestCall_HealthyLeavesNothing(t *testing.T) {
	t.Parallel()
	s := stage.New(t, "200")
	hook(s, "--", "true")
	hook(s, "--", "sh", "-c", "exit 2")
	hook(s, "--", "sleep", "0.3")
	filepath.WalkDir(s.State, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("%s is left", path)
		}
		return nil
	})
}

// A state directory that cannot be used is said once, and changes nothing else.
func TestCall_NoStateDirectory(t *testing.T) {
	t.Parallel()
	s := stage.New(t, "200")
	if err := os.WriteFile(s.State, []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := hook(s, "--", "sh", "-c", "exit 1"); r.Code != 0 || r.Stdout != "" || strings.Count(r.Stderr, "is not recorded") != 1 {
		t.Errorf("exit code %d, stdout %q, stderr %q", r.Code, r.Stdout, r.Stderr)
	}
	if r := hook(s, "--fail-closed", "--", "sh", "-c", "exit 1"); r.Code != 2 || !strings.Contains(r.Stderr, "exited 1; blocking") {
		t.Errorf("exit code %d, stderr %q", r.Code, r.Stderr)
	}
	if r := hook(s, "--", "sh", "-c", "echo why >&2; exit 2"); r.Code != 2 || r.Stderr != "why\n" {
		t.Errorf("exit code %d, stderr %q", r.Code, r.Stderr)
	}
}

// Wrong use must not look like a decision: 2 would block every tool call. Unless that is what was asked for.
func TestCall_WrongUse(t *testing.T) {
	t.Parallel()
	s := stage.New(t, "200")
	for line, want := range map[string]int{
		"--nonsense -- true":               1,
		"--timeout soon -- true":           1,
		"--fail-closed --nonsense -- true": 2,
		"--fail-closed --":                 2,
		"--":                               1,
		"":                                 1, // a line of the settings that has lost its command must not block
		"install":                          2,
		"install --client emacs":           2,
		"--help":                           0,
	} {
		if r := hook(s, strings.Fields(line)...); r.Code != want || want != 0 && r.Stdout != "" {
			t.Errorf("belay hook %s: exit code %d, want %d\nstdout %q\nstderr %q", line, r.Code, want, r.Stdout, r.Stderr)
		}
	}
}

// A client that kills belay outright leaves no hook behind.
func TestCall_BelayIsKilled(t *testing.T) {
	t.Parallel()
	s := stage.New(t, "200")
	run := s.Start(s.Command("belay", "hook", "--", "sh", "-c", "touch up; exec sleep 300"), nil)
	s.Eventually("the hook runs", func() bool { return s.Has("up") })
	run.Signal(os.Kill)
	run.Wait().Exits(137)
	s.NobodyLeft()
}

// A file that is no JSON is left as it is, and the message says where.
func TestInstall_BrokenFile(t *testing.T) {
	t.Parallel()
	s := stage.New(t, "200")
	const broken = "{\n  \"hooks\": {\n    \"Stop\": [,]\n  }\n}\n"
	path := s.File(".claude/settings.json", broken)
	for _, what := range []string{"install", "uninstall", "status"} {
		r := hook(s, what, "--client", "claude", "--scope", "project")
		if r.Code != 125 || !strings.Contains(r.Stderr, ".claude/settings.json: line 3, column 14: expected a value, found ','") {
			t.Errorf("%s: exit code %d, %q", what, r.Code, r.Stderr)
		}
	}
	if now, _ := os.ReadFile(path); string(now) != broken {
		t.Errorf("%s", now)
	}
	if left, _ := filepath.Glob(filepath.Join(s.Work, ".claude", "*")); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	r := hook(s, "install", "--client", "claude", "--scope", "local")
	if r.Code != 0 || !strings.Contains(r.Stdout, ".claude/settings.local.json does not exist") {
		t.Errorf("exit code %d, %q", r.Code, r.Stdout)
	}
}
