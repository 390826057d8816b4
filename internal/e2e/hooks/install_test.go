//go:build linux

package hooks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// project is a settings file as people write them: several events, shell lines that need their quotes, odd layout.
const project = `{
	"env": {"GREETING": "it's \"here\""},
  "hooks": {
    "SessionStart":     [{"hooks": [{"type": "command", "command": "printf 'at the start: %s\\n' \"$GREETING\" | tr a-z A-Z"}]}],
    "UserPromptSubmit": [{"hooks": [
        {"type": "command", "command": "cat >/dev/null; echo 'context from a hook'"},
        {"type": "command", "command": "echo lost; exit 1"}]}],
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [
        {"type": "command", "command": "case $(cat) in *guarded*) exit 1;; esac", "onFailure": "block", "timeout": 20},
        {"type": "command", "command": "case \"$(cat)\" in *'touch no'*) echo 'not that' >&2; exit 2;; esac"}]}],
    "PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo '{\"oops\":'"}]}],
    "Stop":        [{"hooks": [{"type": "command", "command": "no-such-command-here --flag"}]}]
  },
  "unknown": [1, 2.50, null]
}
`

// What install does to a settings file changes nothing for the real claude, but that failures are on record; and uninstall
// brings every byte back.
func TestClaude_Install(t *testing.T) {
	t.Parallel()
	s := play(t, stage.Claude, "", `per-session: tool(bash: touch yes), tool(bash: touch no), tool(bash: touch guarded), 200(text="that is all")`)
	path := s.File(".claude/settings.json", project)
	play := func(how string) {
		for _, name := range []string{"yes", "no", "guarded"} {
			os.Remove(filepath.Join(s.Work, name))
		}
		before := len(s.API.Main())
		r := claude(s, "hello")
		if r.Code != 0 || !strings.Contains(r.Stdout, "that is all") {
			t.Errorf("%s: exit code %d", how, r.Code)
		}
		if !s.Has("yes") || s.Has("no") || s.Has("guarded") {
			t.Errorf("%s: ran: yes %v, no %v, guarded %v; want the first alone", how, s.Has("yes"), s.Has("no"), s.Has("guarded"))
		}
		bodies := ""
		for _, q := range s.API.Main()[before:] {
			bodies += string(q.Body)
		}
		for _, words := range []string{"AT THE START: IT'S", "context from a hook", "not that"} {
			if !strings.Contains(bodies, words) {
				t.Errorf("%s: %q did not reach the model", how, words)
			}
		}
		if strings.Contains(bodies, "lost") {
			t.Errorf("%s: what a failing hook printed reached the model", how)
		}
	}
	if clitest.Full() { // what a bare claude does changes with its version
		play("bare")
	}
	if log := failures(s); len(log) > 0 {
		t.Errorf("on record: %+v", log)
	}
	r := s.Run("belay", "hook", "install", "--client", "claude", "--scope", "project", "--dry-run")
	if now, _ := os.ReadFile(path); string(now) != project || r.Code != 0 || strings.Count(r.Stdout, "\n+") != 8 {
		t.Errorf("a dry run: exit code %d\n%s\n%s", r.Code, r.Stdout, now)
	}
	for range 2 { // the second time there is nothing to do
		if r := s.Run("belay", "hook", "install", "--client", "claude", "--scope", "project"); r.Code != 0 {
			t.Fatalf("exit code %d: %s", r.Code, r.Stderr)
		}
	}
	wrapped, _ := os.ReadFile(path)
	if n := strings.Count(string(wrapped), "belay hook --name "); n != 7 {
		t.Errorf("%d hooks are wrapped:\n%s", n, wrapped)
	}
	if kept, _ := os.ReadFile(path + ".belay-backup"); string(kept) != project {
		t.Errorf("the copy holds\n%s", kept)
	}
	play("behind belay")
	var got []string
	for _, e := range failures(s) {
		got = append(got, fmt.Sprintf("%s %s:%s %s", e.Profile, e.Event, e.Detail.Action, e.ErrorType))
	}
	slices.Sort(got)
	want := []string{
		"hook:case PreToolUse:Bash unknown",
		"hook:echo PostToolUse:Bash bad_output",
		"hook:echo UserPromptSubmit: unknown",
		"hook:no-such-command-here Stop: tool_missing",
	}
	if !slices.Equal(got, want) {
		t.Errorf("on record: %q\nwant %q", got, want)
	}
	if r := s.Run("belay", "hook", "uninstall", "--client", "claude", "--scope", "project"); r.Code != 0 {
		t.Errorf("exit code %d: %s", r.Code, r.Stderr)
	}
	if now, _ := os.ReadFile(path); string(now) != project {
		t.Errorf("uninstall leaves\n%s", now)
	}
	if s.Has(".claude/settings.json.belay-backup") {
		t.Error("the copy is left")
	}
	s.NobodyLeft()
}

const codexHooks = `{"description": "mine",
  "hooks": {
    "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "cat >/dev/null; echo 'context from a hook'"}, {"type": "command", "command": "exit 1"}]}],
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "case \"$(cat)\" in *'touch no'*) echo 'not that' >&2; exit 2;; esac", "timeout": 20}]}],
    "Stop": [{"hooks": [{"type": "command", "command": "sleep 300 & exit 0", "timeout": 10}]}]
  }
}`

// The same for the real codex, in its hooks.json. The last hook leaves a process that holds its stdout: bare, codex
// waits for that until the hook's time is up.
func TestCodex_Install(t *testing.T) {
	t.Parallel()
	s := play(t, stage.Codex, "", `per-session: tool(bash: touch yes), tool(bash: touch no), 200(text="that is all")`)
	path := codexFile(s, "hooks.json")
	must.OK(t, os.WriteFile(path, []byte(codexHooks), 0o600))
	if r := s.Run("belay", "hook", "install", "--client", "codex"); r.Code != 0 || !strings.Contains(r.Stdout, "/hooks") {
		t.Fatalf("exit code %d: %s%s", r.Code, r.Stdout, r.Stderr)
	}
	r := codex(s, "hello")
	if r.Code != 0 || !s.Has("yes") || s.Has("no") {
		t.Errorf("exit code %d, ran: yes %v, no %v", r.Code, s.Has("yes"), s.Has("no"))
	}
	bodies := ""
	for _, q := range s.API.Main() {
		bodies += string(q.Body)
	}
	for _, words := range []string{"context from a hook", "not that"} {
		if !strings.Contains(bodies, words) {
			t.Errorf("%q did not reach the model", words)
		}
	}
	if log := failures(s); len(log) != 1 || log[0].Event != "UserPromptSubmit" || log[0].ErrorType != "unknown" {
		t.Errorf("on record: %+v", log)
	}
	s.NobodyLeft()
	if r := s.Run("belay", "hook", "uninstall", "--client", "codex"); r.Code != 0 {
		t.Errorf("exit code %d: %s", r.Code, r.Stderr)
	}
	if now, _ := os.ReadFile(path); string(now) != codexHooks {
		t.Errorf("uninstall leaves\n%s", now)
	}
}
