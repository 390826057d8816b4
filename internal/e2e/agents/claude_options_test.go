//go:build linux

package agents_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// What the command line allows the whole run is not multiplied by resuming.
func TestClaude_MaxTurnsNotMultiplied(t *testing.T) {
	claude.Each(t, false, func(t *testing.T, version string) {
		s := claude.New(t, version, "tool(bash: `true`)x2, 500(x-should-retry=false), tool(bash: `true`)x*")
		s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		r := s.Belay([]string{"--base-delay", "100ms"}, []string{"-p", "say hi", "--allowedTools", "Bash", "--max-turns", "4"})
		r.Exits(1)
		if r.Result.ErrorType != "limit_reached" || r.Result.Attempts > 2 {
			t.Errorf("%+v", r.Result)
		}
		if n := s.Requests(); n > 5 { // four turns, and the one that failed
			t.Errorf("%d requests", n)
		}
	}, "2.0.77")
}

// A subagent in the background outlasts the first answer. Both answers are delivered, as claude alone does.
func TestClaude_BackgroundAgent(t *testing.T) {
	t.Parallel()
	stage.InFull(t)
	s := claude.New(t, "", `tool(Agent: {"description":"sub","prompt":"do it","subagent_type":"general-purpose"}), 200(after=3s, text="one"), 200(text="two"), 200(text="three")`)
	r := s.Belay(nil, []string{"-p", "say hi", "--allowedTools", "Agent"})
	r.Exits(0)
	r.Is("", 1)
	s.Asked(4)
	r.Used(40, 20)
	if strings.Count(r.Stdout, "\n") != 2 {
		t.Errorf("stdout is %q", r.Stdout)
	}
	s.NobodyLeft()
}
