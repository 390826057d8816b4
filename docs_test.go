package belay_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/cli"
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
	flag := regexp.MustCompile(`--[a-z-]+`)
	for _, c := range cli.ClassMeanings() {
		row := fmt.Sprintf("| %s | %s | %s |\n", c.Class, c.Meaning, cmp.Or(c.Following, "–"))
		if row = flag.ReplaceAllString(row, "`$0`"); !strings.Contains(doc, row) {
			t.Errorf("docs/verdicts.md lacks what belay help verdicts says: %s", row)
		}
	}
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

// promiseTest is how docs/reliability.md names a test, and promiseScript how it names a script of cmd/belay.
var (
	promiseTest   = regexp.MustCompile("`(\\S+) (Test\\w+)`")
	promiseScript = regexp.MustCompile("`(\\w+\\.txtar)`")
)

// Every promise in docs/reliability.md is in the README, word by word, and the tests that hold it are there.
func TestDocs_PromisesHaveTests(t *testing.T) {
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	readme, doc := words(text(t, "README.md")), text(t, "docs/reliability.md")
	_, table, _ := strings.Cut(doc, "\n| promise | held by |\n|---|---|\n")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 2 {
			t.Errorf("not a row of two cells: %s", line)
			continue
		}
		rows++
		if promise := words(cells[0]); !strings.Contains(readme, promise) {
			t.Errorf("README.md does not promise %q", promise)
		}
		tests, scripts := promiseTest.FindAllStringSubmatch(cells[1], -1), promiseScript.FindAllStringSubmatch(cells[1], -1)
		if len(tests)+len(scripts) == 0 {
			t.Errorf("nothing holds %q", cells[0])
		}
		for _, name := range tests {
			if !hasTest(t, name[1], name[2]) {
				t.Errorf("%s has no test %s", name[1], name[2])
			}
		}
		for _, name := range scripts {
			if _, err := os.Stat("cmd/belay/testdata/script/" + name[1]); err != nil {
				t.Error(err)
			}
		}
	}
	if rows < 30 {
		t.Errorf("the table has %d rows", rows)
	}
	// What the README says that one can rely on is in it.
	_, promises, _ := strings.Cut(text(t, "README.md"), "## What you can rely on\n")
	promises, _, _ = strings.Cut(promises, "\n## ")
	for _, bold := range regexp.MustCompile(`\*\*[^*]+\*\*`).FindAllString(promises, -1) {
		if !strings.Contains(table, bold) {
			t.Errorf("docs/reliability.md does not say what holds %s", bold)
		}
	}
}

// hasTest reports whether a package has a test of that name.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(path string) bool { return strings.Contains(text(t, path), "\nfunc "+name+"(") })
}
