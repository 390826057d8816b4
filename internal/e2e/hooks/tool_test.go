//go:build linux

package hooks_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// INTEG-03: hooks do not take down what calls them; TestClaude_Install and TestCodex_Install have those after a tool and at the start of a session.
//
// A hook before a tool, bare and behind belay: what it decides on purpose holds in the same way, whatever else it does
// stops nothing, is on record and leaves no process behind. Bare, claude before 2.1.325 waits for a process that holds the
// hook's stdout, past every timeout.
func TestINTEG03_ClaudePreToolUse(t *testing.T) {
	beforeTools(t, stage.Claude, claude, func(s *stage.Stage) string { return s.File(".claude/settings.json", "") })
}

// The same with codex, which reads a decision only if the hook has exited with 0 or 2, and which waits for a daemon that
// holds the hook's stdout open until the time is up.
func TestINTEG03_CodexPreToolUse(t *testing.T) {
	beforeTools(t, stage.Codex, codex, func(s *stage.Stage) string { return codexFile(s, "hooks.json") })
}

func beforeTools(t *testing.T, cli stage.CLI, run func(*stage.Stage, string) *stage.Ran, file func(*stage.Stage) string) {
	t.Parallel()
	for _, version := range cli.Versions {
		for _, how := range []string{"bare", "behind-belay"} {
			t.Run(version+"/"+how, func(t *testing.T) {
				if how == "bare" {
					stage.InFull(t) // every day it is Belay that is tested: what a bare CLI does changes with its version
				}
				t.Parallel()
				s := play(t, cli, version, calls())
				command, nap := filepath.Join(s.Work, "hook.sh"), 15
				if how != "bare" {
					command, nap = "belay hook --timeout 2s -- "+command, 300
				}
				s.File("hook.sh", scriptedHook(nap))
				must.OK(t, os.WriteFile(file(s), []byte(settings("PreToolUse", command, 4)), 0o600))
				s.Leaves = how == "bare"
				r := run(s, "go")
				played(s, r, cli.Name)
				if how == "bare" {
					t.Logf("it took %v and left behind: %v", r.Took.Round(time.Second), s.Left())
					return
				}
				recorded(s, "PreToolUse", "Bash")
				s.NobodyLeft()
			})
		}
	}
}
