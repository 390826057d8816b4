//go:build linux

package agents_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// Claude switches to its fallback model while its model is overloaded. Where that one is required, Belay waits and asks it again.
func TestClaude_RequireModel(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		flags  []string
		class  string
		code   int
		said   string
		last   string // the model that was asked last
	}{
		"Told":       {"overloaded x3, 200", nil, "", 0, "claude used claude-haiku", "haiku"},
		"Overloaded": {"overloaded x3, 200", []string{"--require-model", "--base-delay", "10ms"}, "", 0, "claude used claude-haiku", "sonnet"},
		"Retired":    {"404, 200", []string{"--require-model"}, "wrong_model", 1, "claude used claude-haiku", "haiku"},
		"Service":    {"tool(bash: true), 200(model=claude-other-1), 200", []string{"--require-model"}, "wrong_model", 1, "claude used claude-other-1 instead of claude-sonnet", "sonnet"},
		"Subagent":   {`tool(Agent: {"description":"d","prompt":"p","subagent_type":"general-purpose","model":"haiku","run_in_background":false}), 200, 200`, []string{"--require-model"}, "", 0, "", "sonnet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "Retired" {
				stage.InFull(t) // every day TestRequireModel_Overloaded (internal/engine) and require_model.txtar (cmd/belay) have the others
			}
			s := claude.New(t, "", tt.script)
			r := s.Belay(tt.flags, []string{"-p", "say hi", "--model", "sonnet", "--fallback-model", "haiku"})
			r.Exits(tt.code)
			if r.Result == nil || r.Result.ErrorType != tt.class {
				t.Errorf("%+v", r.Result)
			}
			if strings.Contains(r.Stderr, "instead of") != (tt.said != "") || !strings.Contains(r.Stderr, tt.said) {
				t.Errorf("said %q", r.Stderr)
			}
			if main := s.API.Main(); len(main) == 0 || !strings.Contains(main[len(main)-1].Model, tt.last) {
				t.Errorf("%+v", main)
			}
		})
	}
}

// Codex's service gives the request to another model, and codex says so.
func TestCodex_RequireModel(t *testing.T) {
	t.Parallel()
	s := codex.New(t, "", "200(openai-model=gpt-5.2-mini)")
	r := s.Belay([]string{"--require-model"}, []string{"exec", "--skip-git-repo-check", "-m", "gpt-5.2-codex", "say hi"})
	r.Exits(1)
	r.Is("wrong_model", 1)
	r.Says("codex used gpt-5.2-mini instead of gpt-5.2-codex")
}
