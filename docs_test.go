package belay_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/profile"
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
		if row := "| " + strings.ReplaceAll(s.Help(), "|", "\\|") + " | " + s.Where() + " |\n"; !strings.Contains(readme, row) {
			t.Errorf("README.md does not say that --%s can be given by %s", s.Name, s.Where())
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

// What is not in the table of settings: the variables of each CLI, its log that the user did not ask for, the versions it is
// tested with.
func TestDocs_NameWhatEachCLIHas(t *testing.T) {
	readme, agents := text(t, "README.md"), text(t, "docs/agents.md")
	for _, cli := range profile.All() {
		want := []string{cli.Headless()}
		for _, v := range cli.Variables {
			want = append(want, "`"+v.Name+"`")
		}
		if cli.OwnLog != "" {
			want = append(want, "`.logs/"+cli.OwnLog+"`", "`--log-dir none`")
		}
		for _, part := range want {
			if !strings.Contains(readme, part) {
				t.Errorf("README.md does not name %s", part)
			}
		}
		versions := slices.Clone(cli.Tested)
		slices.Reverse(versions)
		if tried := cli.Name + " " + strings.Join(versions, ", "); cli.IsAgent() && !strings.Contains(agents, tried) {
			t.Errorf("docs/agents.md does not say that %s were tried", tried)
		}
	}
}
