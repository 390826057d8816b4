//go:build linux

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/printable"
)

// On a terminal of 80 columns no line of a table is broken, and the reason of a failure can be read. In a pipe it is whole.
func TestTables_FitTheTerminal(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("on and ", 9) + "on"
	s := newScreen(t, "sh", "-c", `belay run --max-retries 1 --base-delay 0 -- sh -c 'echo it goes `+long+` >&2; exit 3' 2> said
belay log; belay log --attempts; belay events; belay audit; belay stats
belay events | tee whole | wc -l`)
	s.ends(0)
	shown := colors.ReplaceAllString(s.shown(), "")
	for line := range strings.Lines(shown) {
		if n := printable.Width(strings.TrimRight(line, "\r\n")); n > 80 {
			t.Errorf("%q has %d columns", line, n)
		}
	}
	if !strings.Contains(s.shown(), "\x1b[31m") {
		t.Error("there are no colours")
	}
	if strings.Count(shown, "sh exited 3: it goes on and") < 4 {
		t.Error("the reason cannot be read")
	}
	whole, err := os.ReadFile(s.path("whole"))
	if err != nil || !strings.Contains(string(whole), long) {
		t.Errorf("what goes to a pipe is cut: %s, %v", whole, err)
	}
}

// colors are the sequences that set a colour.
var colors = regexp.MustCompile("\x1b\\[[0-9;]*m")
