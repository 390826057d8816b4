//go:build linux

package hooks_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
)

// A hook before a tool, bare and behind belay: what it decides on purpose holds in the same way, whatever else it does
// stops nothing, is on record and leaves nobody behind.
func TestClaude_PreToolUse(t *testing.T) {
	t.Parallel()
	for _, version := range versions(clitest.NewestClaude, clitest.OlderClaudes) {
		for _, how := range []string{"bare", "behind-belay"} {
			t.Run(version+"/"+how, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, clitest.Claude(t, version), calls())
				// Without belay, claude before 2.1.325 waits for whoever holds the hook's stdout, past every timeout.
				command, nap := "./hook.sh", 15
				if how != "bare" {
					command, nap = "belay hook --timeout 2s -- ./hook.sh", 300
				}
				s.file("hook.sh", moody(nap))
				s.file(".claude/settings.json", settings("PreToolUse", command, 4))
				r := s.claude("go")
				s.played(r, "claude")
				if how == "bare" {
					t.Logf("it took %v and left behind: %q", r.took.Round(time.Second), s.left())
					return
				}
				s.recorded("PreToolUse", "Bash")
				s.nobodyLeft()
			})
		}
	}
}
