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
	"github.com/belay-run/belay/internal/test/must"
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
	must.OK(t, os.WriteFile(s.State, []byte("in the way"), 0o600))
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
