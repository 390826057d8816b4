//go:build linux

package hooks_test

import (
	"os"
	"testing"

	"github.com/belay-run/belay/internal/clitest"
)

// The same with codex, which reads a decision only if the hook has exited with 0 or 2, and which waits for a daemon that
// holds the hook's stdout open until the time is up.
func TestCodex_PreToolUse(t *testing.T) {
	for _, version := range versions(clitest.NewestCodex, clitest.OlderCodexes) {
		for _, how := range []string{"bare", "behind-belay"} {
			t.Run(version+"/"+how, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, clitest.Codex(t, version), calls())
				hook := s.file("hook.sh", moody())
				command := hook
				if how != "bare" {
					command = "belay hook --timeout 2s -- " + hook
				}
				if err := os.WriteFile(s.codexFile("hooks.json"), []byte(settings("PreToolUse", command, 4)), 0o600); err != nil {
					t.Fatal(err)
				}
				r := s.codex("go")
				s.played(r, "codex")
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
