package belay_test

import (
	"os"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/verdict"
)

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Docs move with the code.
func TestDocs_NameEverySetting(t *testing.T) {
	readme := text(t, "README.md")
	for i := range config.Table {
		s := &config.Table[i]
		if !strings.Contains(readme, "| `--"+s.Name) || !strings.Contains(readme, strings.ReplaceAll(s.Help(), "|", "\\|")) {
			t.Errorf("README.md does not list --%s as it is", s.Name)
		}
	}
}

func TestDocs_NameEveryClass(t *testing.T) {
	doc := text(t, "docs/verdicts.md")
	for _, c := range verdict.Classes() {
		if c != verdict.BreakerOpen && !strings.Contains(doc, string(c)) { // of the gate, which is not there yet
			t.Errorf("docs/verdicts.md does not name %s", c)
		}
	}
}

// The variables that are not in the table of settings, and the log that nobody asked for.
func TestDocs_NameClaudesVariablesAndItsLog(t *testing.T) {
	readme := text(t, "README.md")
	for _, want := range []string{"`CLAUDE_MAX_RETRIES`", "`CLAUDE_BASE_DELAY`", "`CLAUDE_MAX_DELAY`", "`CLAUDE_JITTER_FACTOR`", "`CLAUDE_LOG_DIR`",
		"`.logs/claude_invocations.jsonl`", "`--log-dir none`"} {
		if !strings.Contains(readme, want) {
			t.Errorf("README.md does not name %s", want)
		}
	}
}
