//go:build linux

package hooks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

const geminiHooks = `{
  "security": {"auth": {"selectedType": "gemini-api-key"}}, // mine
  "hooks": {
    "BeforeAgent": [{"hooks": [{"type": "command", "command": "exit 1", "name": "broken"}]}],
    "BeforeTool": [{"matcher": "run_shell_.*", "hooks": [{"type": "command", "command": "case \"$(cat)\" in *'touch no'*) echo 'not that' >&2; exit 2;; esac", "timeout": 20000}]}]
  }
}
`

// The same for the real gemini, in its settings.json, where times are in milliseconds.
func TestGemini_Install(t *testing.T) {
	stage.InFull(t)
	t.Parallel()
	for _, cli := range stage.Agents() {
		if cli.Name != "gemini" {
			continue
		}
		s := play(t, cli, "", `tool(bash: touch yes), tool(bash: touch no), 200(text="that is all")`)
		path := filepath.Join(s.API.Dir(), "home", ".gemini", "settings.json")
		must.OK(t, os.WriteFile(path, []byte(geminiHooks), 0o600))
		if r := s.Run("belay", "hook", "install", "--client", "gemini"); r.Code != 0 {
			t.Fatalf("exit code %d: %s%s", r.Code, r.Stdout, r.Stderr)
		}
		if now, _ := os.ReadFile(path); !strings.Contains(string(now), "--timeout 19s ") || !strings.Contains(string(now), "// mine") {
			t.Errorf("%s", now)
		}
		r := s.Run("gemini", "--yolo", "-p", "hello")
		if r.Code != 0 || !s.Has("yes") || s.Has("no") {
			t.Errorf("exit code %d, ran: yes %v, no %v\n%s", r.Code, s.Has("yes"), s.Has("no"), r.Stderr)
		}
		bodies := ""
		for _, q := range s.API.Main() {
			bodies += string(q.Body)
		}
		if !strings.Contains(bodies, "not that") {
			t.Error("the reason did not reach the model")
		}
		if log := failures(s); len(log) != 1 || log[0].Event != "BeforeAgent" || log[0].ErrorType != "unknown" {
			t.Errorf("on record: %+v", log)
		}
		s.NobodyLeft()
		if r := s.Run("belay", "hook", "uninstall", "--client", "gemini"); r.Code != 0 {
			t.Errorf("exit code %d: %s", r.Code, r.Stderr)
		}
		if now, _ := os.ReadFile(path); string(now) != geminiHooks {
			t.Errorf("uninstall leaves\n%s", now)
		}
	}
}
