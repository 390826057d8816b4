//go:build linux

package agents_test

import (
	"slices"
	"strings"
	"testing"
)

// codex and opencode show in text form what they do. With belay, which runs them with their events inside, its own lines say that on stderr, and stdout is what
// they print alone. --quiet turns the lines off.
func TestShowsWork(t *testing.T) {
	for a, lines := range map[*agent]string{codex: "codex: First, a tool.\ncodex: exec echo made; exit 3\n", opencode: "opencode: bash echo made\n"} {
		if a != codex && !full {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			const script = `tool(bash: "echo made; exit 3", text="First, a tool."), 200`
			s := a.New(t, "", script)
			bare, r := a.asBare(s, script, a.work("say hi"))
			bare.Exits(0)
			r.Exits(0)
			if !strings.Contains(r.Stderr, lines) {
				t.Errorf("stderr is\n%s", r.Stderr)
			}
			s.Rehearse(script)
			r = s.Run("belay", slices.Concat([]string{"run", "--quiet", "--no-stdin", "--", a.Name}, a.work("say hi"))...)
			r.Exits(0)
			if strings.Contains(r.Stderr, a.Name+": ") {
				t.Errorf("with --quiet stderr is\n%s", r.Stderr)
			}
		})
	}
}
