//go:build linux

package agents_test

import (
	"testing"
)

// A session whose name was given cannot be begun twice: after a failure it goes on.
func TestClaude_FixedSession(t *testing.T) {
	claude.Each(t, false, func(t *testing.T, version string) {
		s := claude.New(t, version, "500(x-should-retry=false), 200")
		s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		id := "22222222-2222-4222-8222-222222222222"
		r := s.Belay([]string{"--base-delay", "100ms"}, []string{"-p", "--session-id", id, "say hi"})
		r.Exits(0)
		r.Is("", 2)
		if r.Result.SessionID != id {
			t.Errorf("session %s, want %s", r.Result.SessionID, id)
		}
		s.Asked(2)
		s.ToldOnce("say hi")
	}, "2.0.77")
}
