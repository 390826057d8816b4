//go:build linux

package hooks_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
)

// The same with codex, which reads a decision only if the hook has exited with 0 or 2, and which waits for a daemon that
// holds the hook's stdout open until the time is up.
func TestCodex_PreToolUse(t *testing.T) {
	t.Parallel()
	for _, version := range versions(clitest.NewestCodex, clitest.OlderCodexes) {
		for _, how := range []string{"bare", "behind-belay"} {
			t.Run(version+"/"+how, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, clitest.Codex(t, version), calls())
				hook := filepath.Join(s.work, "hook.sh")
				command, nap := hook, 15
				if how != "bare" {
					command, nap = "belay hook --timeout 2s -- "+hook, 300
				}
				s.file("hook.sh", moody(nap))
				if err := os.WriteFile(s.codexFile("hooks.json"), []byte(settings("PreToolUse", command, 4)), 0o600); err != nil {
					t.Fatal(err)
				}
				r := s.codex("go")
				s.played(r, "codex")
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
