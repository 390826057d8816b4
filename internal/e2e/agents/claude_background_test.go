//go:build linux

package agents_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	known "github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/test/must"
)

// background is a stage on which claude may work in the background, with settings of the user's.
func background(t *testing.T, script string) (s *stage.Stage, settings, before string) {
	s = claude.New(t, "", script)
	home := filepath.Join(s.Dir, "api", "home", ".claude")
	must.OK(t, os.MkdirAll(home, 0o700))
	key := known.Getenv(s.Environ(), "ANTHROPIC_API_KEY")
	trusted, err := json.Marshal(map[string]any{"hasCompletedOnboarding": true, "customApiKeyResponses": map[string]any{"approved": []string{key[max(0, len(key)-20):]}}, "projects": map[string]any{
		s.Work: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}})
	must.OK(t, err)
	must.OK(t, os.WriteFile(filepath.Join(home, ".claude.json"), trusted, 0o600))
	settings, before = filepath.Join(home, "settings.json"), "{\n\t\"cleanupPeriodDays\": 30\n}"
	must.OK(t, os.WriteFile(settings, []byte(before), 0o600))
	s.Env = append(s.Env, "CLAUDE_CODE_MAX_RETRIES=0")
	return s, settings, before
}

// ask begins a session in the background, and waits until a turn of it is on record.
func ask(s *stage.Stage, prompt string) journal.Entry {
	s.T.Helper()
	before := len(turnsOf(s))
	s.Run("claude", "--bg", "--permission-mode", "acceptEdits", prompt).Exits(0)
	s.Eventually("a turn is on record", func() bool { return len(turnsOf(s)) > before })
	return turnsOf(s)[before]
}

func turnsOf(s *stage.Stage) (list []journal.Entry) {
	if _, err := os.Stat(filepath.Join(s.Dir, "state", "log.jsonl")); err != nil {
		return nil // nothing is
	}
	for _, e := range s.Log() {
		if e.Kind == journal.Turn {
			list = append(list, e)
		}
	}
	return list
}

// What claude runs in the background is on record, also in a process that has waited for a session; and with belay shim removed it is as it was.
func TestClaude_BackgroundSession(t *testing.T) {
	t.Parallel()
	s, settings, before := background(t, "tool(bash: touch done), 200")
	shimLink(s, "claude")
	for _, prompt := range []string{"say hi", "say it again"} {
		if e := ask(s, prompt); e.Status != journal.Success || e.Usage == nil || e.Session == "" || e.Project != s.Work {
			t.Errorf("%+v", e)
		}
	}
	if !s.Has("done") {
		t.Error("the tool has not run")
	}
	s.Run("claude", "daemon", "stop", "--any").Exits(0)
	var runs []journal.Entry
	s.Eventually("both sessions are on record, and no more", func() bool {
		runs = nil
		for _, e := range s.Log() {
			if e.Kind == "" {
				runs = append(runs, e)
			}
		}
		return len(runs) >= 2 && len(s.Left()) == 0
	})
	for _, e := range runs {
		if e.Status != journal.Success || e.Usage == nil || e.Project != s.Work {
			t.Errorf("%+v", e)
		}
	}
	if len(runs) != 2 {
		t.Errorf("%d runs on record", len(runs))
	}
	s.Run("belay", "shim", "remove", "--dir", filepath.Join(s.Dir, "shims")).Exits(0)
	after, err := os.ReadFile(settings)
	must.OK(t, err)
	if string(after) != before {
		t.Errorf("the settings are %q", after)
	}
}

// A limit that a session in the background runs into holds back others.
func TestClaude_BackgroundSessionAtALimit(t *testing.T) {
	stage.InFull(t)
	t.Parallel()
	s, _, _ := background(t, "usage-limit(resets=3h)x*")
	shimLink(s, "claude")
	if e := ask(s, "say hi"); e.ErrorType != "usage_limit" || e.RetryAt.IsZero() {
		t.Errorf("%+v", e)
	}
	if r := s.Run("belay", "gates"); !strings.Contains(r.Stdout, "usage_limit") {
		t.Error(r.Stdout)
	}
	s.Run("claude", "daemon", "stop", "--any").Exits(0)
}

// Sessions in the background do not need a belay that has been removed without a word.
func TestClaude_BackgroundSessionWithoutBelay(t *testing.T) {
	stage.InFull(t)
	t.Parallel()
	s, settings, _ := background(t, "tool(bash: touch done), 200")
	shimLink(s, "claude")
	text, err := os.ReadFile(settings)
	must.OK(t, err)
	gone := strings.ReplaceAll(string(text), stage.Bin("belay"), filepath.Join(s.Dir, "gone", "belay"))
	if gone == string(text) {
		t.Fatalf("%s", text)
	}
	must.OK(t, os.WriteFile(settings, []byte(gone), 0o600))
	s.Run("claude", "--bg", "--permission-mode", "acceptEdits", "say hi").Exits(0)
	s.Eventually("the session works", func() bool { return s.Has("done") })
	s.Run("claude", "daemon", "stop", "--any").Exits(0)
	s.Eventually("all have ended", func() bool { return len(s.Left()) == 0 })
}
