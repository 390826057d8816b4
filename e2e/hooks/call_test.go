//go:build linux

package hooks_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const event = `{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}` + "\n"

// desk is a place to call belay hook from, without an agent.
func newDesk(t *testing.T) *stage {
	t.Helper()
	return newStage(t, "", "200")
}

// hook calls belay hook as an agent does.
func (s *stage) hook(args ...string) *ran {
	s.t.Helper()
	cmd := exec.Command(filepath.Join(binDir, "belay"), append([]string{"hook"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = s.work, s.environ(), strings.NewReader(event)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	begin := time.Now()
	cmd.Run()
	return &ran{stage: s, code: cmd.ProcessState.ExitCode(), stdout: out.String(), stderr: errs.String(), took: time.Since(begin)}
}

// Fifty calls at once, of all kinds: each ends as it should, every failure is on record once, nobody is left.
func TestCall_FiftyAtOnce(t *testing.T) {
	t.Parallel()
	s := newDesk(t)
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
			r := s.hook("--name", fmt.Sprint("h", i), "--timeout", "60s", "--", "sh", "-c", k.script)
			if r.code != k.code || r.stdout != k.stdout {
				t.Errorf("%s: exit code %d, stdout %q, stderr %q", k.script, r.code, r.stdout, r.stderr)
			}
		})
	}
	wg.Wait()
	seen := map[string]string{}
	for _, e := range s.log() {
		seen[e.Profile] += e.ErrorType
	}
	for i := range 50 {
		if got, want := seen[fmt.Sprint("hook:h", i)], kinds[i%len(kinds)].class; got != want {
			t.Errorf("call %d is on record as %q, want %q", i, got, want)
		}
	}
	s.nobodyLeft()
}

// A hook that fails again and again raises an alert, once.
func TestCall_Alert(t *testing.T) {
	t.Parallel()
	s := newDesk(t)
	for i := range 7 {
		r := s.hook("--name", "bad", "--", "sh", "-c", "exit 1")
		if says := strings.Contains(r.stderr, "alert: 5 failures of hook:bad within 10m"); r.code != 0 || says != (i == 4) {
			t.Errorf("call %d: exit code %d, %q", i+1, r.code, r.stderr)
		}
	}
	var alerts []entry
	for _, e := range s.wholeLog() {
		if e.Kind == "alert" {
			alerts = append(alerts, e)
		}
	}
	if len(alerts) != 1 || alerts[0].Profile != "hook:bad" || alerts[0].Event != "raised" {
		t.Errorf("on record: %+v", alerts)
	}
}

// As long as all is well the state directory is not touched.
func TestCall_HealthyTouchesNothing(t *testing.T) {
	t.Parallel()
	s := newDesk(t)
	s.hook("--", "true")
	s.hook("--", "sh", "-c", "exit 2")
	if _, err := os.Stat(filepath.Join(s.dir, "state")); !os.IsNotExist(err) {
		t.Errorf("the state directory: %v", err)
	}
}

// A state directory that cannot be used is said once, and changes nothing else.
func TestCall_NoStateDirectory(t *testing.T) {
	t.Parallel()
	s := newDesk(t)
	if err := os.WriteFile(filepath.Join(s.dir, "state"), []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := s.hook("--", "sh", "-c", "exit 1"); r.code != 0 || r.stdout != "" || strings.Count(r.stderr, "not on record") != 1 {
		t.Errorf("exit code %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
	if r := s.hook("--fail-closed", "--", "sh", "-c", "exit 1"); r.code != 2 || !strings.Contains(r.stderr, "exited with code 1; blocking") {
		t.Errorf("exit code %d, stderr %q", r.code, r.stderr)
	}
	if r := s.hook("--", "sh", "-c", "echo why >&2; exit 2"); r.code != 2 || r.stderr != "why\n" {
		t.Errorf("exit code %d, stderr %q", r.code, r.stderr)
	}
}

// Wrong use must not look like a decision: 2 would block every tool call. Unless that is what was asked for.
func TestCall_WrongUse(t *testing.T) {
	t.Parallel()
	s := newDesk(t)
	for line, want := range map[string]int{
		"--nonsense -- true":               1,
		"--timeout soon -- true":           1,
		"--fail-closed --nonsense -- true": 2,
		"--fail-closed --":                 2,
		"--":                               1,
		"":                                 2, // a person has typed it
		"install":                          2,
		"install --client emacs":           2,
		"--help":                           0,
	} {
		if r := s.hook(strings.Fields(line)...); r.code != want || want != 0 && r.stdout != "" {
			t.Errorf("belay hook %s: exit code %d, want %d\nstdout %q\nstderr %q", line, r.code, want, r.stdout, r.stderr)
		}
	}
}

// A client that kills belay outright leaves no hook behind.
func TestCall_BelayIsKilled(t *testing.T) {
	t.Parallel()
	s := newDesk(t)
	cmd := exec.Command(filepath.Join(binDir, "belay"), "hook", "--", "sh", "-c", "touch up; exec sleep 300")
	cmd.Dir, cmd.Env = s.work, s.environ()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !within(patience, func() bool { return s.exists("up") }) {
		t.Error("the hook did not start")
	}
	cmd.Process.Kill()
	cmd.Wait()
	s.nobodyLeft()
}

// A file that is no JSON is left as it is, and the message says where.
func TestInstall_BrokenFile(t *testing.T) {
	t.Parallel()
	s := newDesk(t)
	const broken = "{\n  \"hooks\": {\n    \"Stop\": [,]\n  }\n}\n"
	path := s.file(".claude/settings.json", broken)
	for _, what := range []string{"install", "uninstall", "status"} {
		r := s.hook(what, "--client", "claude", "--scope", "project")
		if r.code != 125 || !strings.Contains(r.stderr, ".claude/settings.json: line 3, column 14: a value should stand here, not ','") {
			t.Errorf("%s: exit code %d, %q", what, r.code, r.stderr)
		}
	}
	if now, _ := os.ReadFile(path); string(now) != broken {
		t.Errorf("%s", now)
	}
	if left, _ := filepath.Glob(filepath.Join(s.work, ".claude", "*")); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	r := s.hook("install", "--client", "claude", "--scope", "local")
	if r.code != 0 || !strings.Contains(r.stdout, "There is no .claude/settings.local.json") {
		t.Errorf("exit code %d, %q", r.code, r.stdout)
	}
}
