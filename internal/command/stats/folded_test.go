package stats

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/printable"
)

// The line above the tables of belay stats fits the terminal like they do, and says the same.
func TestFolded(t *testing.T) {
	const text = "1,234 runs, 98.0 % ok, 1,300 attempts, 5,000 requests, waited 3h 2m, tokens 1,200,000 in, 300,000 out, ≥ $12.34, 4 attempts unknown; hooks and MCP servers failed once"
	if got := folded(text, 0); got != text {
		t.Errorf("in a file: %q", got)
	}
	if got := folded("1 run, 100 % ok", 80); got != "1 run, 100 % ok" {
		t.Errorf("%q", got)
	}
	for _, columns := range []int{40, 60, 79, 80, 81, 120, 200} {
		got := folded(text, columns)
		for line := range strings.Lines(got) {
			if w := printable.Width(strings.TrimRight(line, "\n")); w > columns || strings.HasSuffix(line, " \n") {
				t.Errorf("%d columns: %d in %q", columns, w, line)
			}
		}
		if back := strings.ReplaceAll(got, "\n  ", " "); back != text {
			t.Errorf("%d columns: %q", columns, got)
		}
	}
	if got := folded("a very long word that nothing can break, b", 10); got != "a very long word that nothing can break,\n  b" {
		t.Errorf("%q", got)
	}
}
