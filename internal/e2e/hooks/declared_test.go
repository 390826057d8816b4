//go:build linux

package hooks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	known "github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// The same for real CLIs whose profiles are data, and say where their hooks are.
func TestDeclared_Install(t *testing.T) {
	stage.InFull(t)
	for name, tt := range map[string]struct {
		version, settings, tool string
		args                    []string
	}{
		"qwen":  {"0.24.4", ".qwen/settings.json", "run_shell_command", []string{"-y", "-p", "hello"}},
		"droid": {"0.225.2", ".factory/settings.json", "Execute", []string{"exec", "--auto", "high", "hello"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cli := stage.CLI{Descriptor: &known.Descriptor{Name: name, Tested: known.Tested{tt.version}}, Versions: []string{tt.version}}
			s := play(t, cli, "", `tool(bash: touch yes), tool(bash: touch no), 200(text="that is all")`)
			s.Longest = 10 * time.Minute // qwen takes its time
			path := filepath.Join(s.API.Dir(), "home", tt.settings)
			own, err := os.ReadFile(path)
			must.OK(t, err)
			before := strings.Replace(string(own), "{", `{
  "hooks": {
    "PostToolUse": [{"hooks": [{"type": "command", "command": "exit 1"}]}],
    "PreToolUse": [{"matcher": "`+tt.tool+`", "hooks": [{"type": "command", "command": "case \"$(cat)\" in *'touch no'*) echo 'not that' >&2; exit 2;; esac", "timeout": 20}]}]
  },`, 1)
			must.OK(t, os.WriteFile(path, []byte(before), 0o600))
			s.Run("belay", "hook", "install", "--client", name).Exits(0)
			if now, _ := os.ReadFile(path); !strings.Contains(string(now), "--timeout 19s ") || !strings.Contains(string(now), "--timeout 59s ") {
				t.Errorf("%s", now)
			}
			r := s.Run(name, tt.args...)
			if r.Code != 0 || !s.Has("yes") || s.Has("no") {
				t.Errorf("exit code %d, ran: yes %v, no %v\n%s%s", r.Code, s.Has("yes"), s.Has("no"), r.Stdout, r.Stderr)
			}
			bodies := ""
			for _, q := range s.API.Main() {
				bodies += string(q.Body)
			}
			if !strings.Contains(bodies, "not that") {
				t.Error("the reason did not reach the model")
			}
			if log := failures(s); len(log) != 1 || log[0].Event != "PostToolUse" || log[0].ErrorType != "unknown" {
				t.Errorf("on record: %+v", log)
			}
			s.Run("belay", "hook", "uninstall", "--client", name).Exits(0)
			now, _ := os.ReadFile(path)
			if name == "qwen" { // which has written it anew
				_, hooks, _ := strings.Cut(before, "\n")
				hooks, _, _ = strings.Cut(hooks, "  },")
				if !strings.Contains(string(now), hooks) {
					t.Errorf("uninstall leaves\n%s", now)
				}
			} else if string(now) != before {
				t.Errorf("uninstall leaves\n%s", now)
			}
		})
	}
}
