//go:build linux

package hooks_test

import (
	"testing"

	"github.com/belay-run/belay/internal/clitest"
)

// A hook before a tool, bare and behind belay: what it decides on purpose holds in the same way, whatever else it does
// stops nothing, is on record and leaves nobody behind.
func TestClaude_PreToolUse(t *testing.T) {
	for _, version := range versions(clitest.NewestClaude, clitest.OlderClaudes) {
		for _, how := range []string{"bare", "behind-belay"} {
			t.Run(version+"/"+how, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, clitest.Claude(t, version), calls())
				s.file("hook.sh", moody())
				command := "./hook.sh"
				if how != "bare" {
					command = "belay hook --timeout 2s -- ./hook.sh"
				}
				s.file(".claude/settings.json", settings("PreToolUse", command, 4))
				r := s.claude("go")
				s.played(r, "claude")
				if how == "bare" {
					t.Logf("left behind: %q", s.left())
					return
				}
				s.recorded("PreToolUse", "Bash")
				s.nobodyLeft()
			})
		}
	}
}
