//go:build linux

package agents_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// The real claude meets its usage limit. A detached run of it starts by itself when the limit is over, gets the prompt that came on stdin, and attach shows the answer; the
// prompt is asked once.
func TestDetach_WhenLifted(t *testing.T) {
	t.Parallel()
	s := claude.New(t, "", `usage-limit(resets=40s), 200(text="good morning")x*`)
	first := s.Run("belay", "run", "--no-wait", "--", "claude", "-p", "say hi")
	first.Exits(75)
	limited := s.Requests()
	cmd := s.Command("belay", "run", "--detach", "--when-lifted", "--", "claude", "-p")
	started := s.Start(cmd, strings.NewReader("say good morning")).Wait()
	started.Exits(0)
	id := strings.TrimSpace(started.Stdout)
	if runs := s.Run("belay", "ps").Stdout; !strings.Contains(runs, "on hold") || !strings.Contains(runs, "(detached)") {
		t.Errorf("%s", runs)
	}
	s.Asked(limited)
	shown := s.Run("belay", "attach", id)
	shown.Exits(0)
	shown.Prints("good morning\n")
	s.Asked(limited + 1)
	s.ToldOnce("say good morning")
	if stage.Count(s.LastTold(), "say hi") > 0 {
		t.Error("it was asked what another run was to do")
	}
}
