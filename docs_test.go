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

	"github.com/belay-run/belay/internal/command/help"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must.OK(t, err)
	return string(data)
}

// Docs move with the code.
func TestDocs_NameEveryClass(t *testing.T) {
	doc := text(t, "docs/verdicts.md")
	flag := regexp.MustCompile(`--[a-z-]+`)
	for _, c := range help.ClassMeanings() {
		row := fmt.Sprintf("| %s | %s | %s |\n", c.Class, c.Meaning, cmp.Or(c.Following, "–"))
		if row = flag.ReplaceAllString(row, "`$0`"); !strings.Contains(doc, row) {
			t.Errorf("docs/verdicts.md lacks what belay help verdicts says: %s", row)
		}
	}
	for _, c := range verdict.Classes() {
		if !strings.Contains(doc, string(c)) {
			t.Errorf("docs/verdicts.md does not name %s", c)
		}
	}
}

// What is not in the table of settings: the variables of each CLI, its log that the user did not ask for, the versions it is
// tested with.
func TestDocs_NameWhatEachCLIHas(t *testing.T) {
	if testing.Short() {
		t.Skip("a CLI that is being added is described last")
	}
	readme, reference, agents := text(t, "README.md"), text(t, "docs/reference.md"), text(t, "docs/agents.md")
	for _, cli := range profile.All() {
		if !strings.Contains(readme, cli.Headless()) {
			t.Errorf("README.md does not name %s", cli.Headless())
		}
		var want []string
		for _, v := range cli.Variables {
			want = append(want, "`"+v.Name+"`")
			if !strings.Contains(readme, "`"+v.Name+"`") {
				t.Errorf("README.md does not name %s", v.Name)
			}
		}
		if cli.OwnLog != "" {
			want = append(want, "`.logs/"+cli.OwnLog+"`", "`--log-dir none`")
		}
		for _, part := range want {
			if !strings.Contains(reference, part) {
				t.Errorf("docs/reference.md does not name %s", part)
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

// Every promise in docs/reliability.md is in the README or in another document, word by word, and the tests that hold it are there.
func TestDocs_PromisesHaveTests(t *testing.T) {
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	doc := text(t, "docs/reliability.md")
	var promised strings.Builder
	for _, path := range documents(t) {
		if path != "docs/reliability.md" {
			promised.WriteString(words(text(t, path)) + "\n")
		}
	}
	_, table, _ := strings.Cut(doc, "\n| promise | held by |\n|---|---|\n")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 2 {
			t.Errorf("not a row of two cells: %s", line)
			continue
		}
		rows++
		if promise := words(cells[0]); !strings.Contains(promised.String(), promise) {
			t.Errorf("neither README.md nor another document promises %q", promise)
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

// documents are the README and all pages of docs.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("docs/*.md")
	must.OK(t, err)
	return append(pages, "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
}

// code is what stands in a document as it is typed.
var code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)|(?:src|srcset)="([^":]+)"`)

// packaged are the documents that tools/dist puts into every package, with the examples that they lead to.
var packaged = regexp.MustCompile(`^(docs|examples)(/|$)|^(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md$`)

// Links between documents lead somewhere, also in a package, and every page is in the index.
func TestDocs_Links(t *testing.T) {
	for _, path := range documents(t) {
		if strings.Contains(code.ReplaceAllString(text(t, path), "x"), "***") {
			t.Errorf("%s: *** is not closed by **", path)
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text(t, path), ""), -1) {
			to := filepath.Join(filepath.Dir(path), m[1]+m[3])
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %v", path, err)
			} else if !packaged.MatchString(filepath.ToSlash(to)) {
				t.Errorf("%s leads to %s, which is in no package", path, to)
			} else if heading := strings.TrimPrefix(m[2], "#"); heading != "" && !hasHeading(text(t, to), heading) {
				t.Errorf("%s: %s has no heading %s", path, to, heading)
			}
		}
		index := text(t, "docs/README.md")
		if name := filepath.Base(path); filepath.Dir(path) == "docs" && name != "README.md" && !strings.Contains(index, "]("+name) {
			t.Errorf("docs/README.md does not lead to %s", path)
		}
	}
}

// notInAnchor is what GitHub leaves out of the anchor of a heading.
var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// hasHeading reports whether a page has a heading that GitHub gives that anchor.
func hasHeading(page, anchor string) bool {
	for line := range strings.Lines(page) {
		if title := strings.TrimLeft(line, "#"); title != line {
			title = notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			if strings.ReplaceAll(title, " ", "-") == anchor {
				return true
			}
		}
	}
	return false
}

// A stranger reads the README in a minute; the rest is in docs.
func TestDocs_ReadmeIsShort(t *testing.T) {
	if lines := strings.Count(text(t, "README.md"), "\n"); lines > 120 {
		t.Errorf("README.md has %d lines; more belongs in docs", lines)
	}
}

// hasTest reports whether a package has a test of that name.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	must.OK(t, err)
	return slices.ContainsFunc(files, func(path string) bool { return strings.Contains(text(t, path), "\nfunc "+name+"(") })
}

// reference is a page of docs that a text of the program names, and whether it does so by its URL.
var reference = regexp.MustCompile(`(https://github\.com/belay-run/belay/blob/main/)?\b(docs/[a-z-]+\.md)(#[a-z-]+)?`)

// Who has installed a package has no docs/ beside them: help, man pages and messages name pages by their URLs, and the pages are there.
func TestDocs_ProgramNamesURLs(t *testing.T) {
	named := 0
	for _, top := range []string{"internal", "cmd"} {
		must.OK(t, filepath.WalkDir(top, func(path string, _ os.DirEntry, err error) error {
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for line := range strings.Lines(text(t, path)) {
				before, _, _ := strings.Cut(line, "// ")
				if !strings.Contains(before, "docs/") {
					continue // the pattern takes much longer to say so
				}
				for _, m := range reference.FindAllStringSubmatch(before, -1) {
					named++
					if m[1] == "" {
						t.Errorf("%s: %s is not named by its URL", path, m[0])
					} else if _, err := os.Stat(m[2]); err != nil {
						t.Errorf("%s: %v", path, err)
					} else if m[3] != "" && !hasHeading(text(t, m[2]), m[3][1:]) {
						t.Errorf("%s: %s has no heading %s", path, m[2], m[3])
					}
				}
			}
			return err
		}))
	}
	if named < 15 {
		t.Errorf("the program names only %d pages", named)
	}
}

// The first picture of the README moves, and does not where motion is not wanted: it then shows the end.
func TestDocs_FirstPicture(t *testing.T) {
	for _, theme := range []string{"light", "dark"} {
		name := "docs/limit-" + theme + ".svg"
		if first, _, _ := strings.Cut(text(t, "README.md"), "</picture>"); !strings.Contains(first, name) {
			t.Errorf("the first picture of the README is not %s", name)
		}
		picture := text(t, name)
		style, drawn, _ := strings.Cut(picture, "</style>")
		still, moving, _ := strings.Cut(style, "@media (prefers-reduced-motion: no-preference) {")
		if strings.Contains(still, "animation:") || strings.Count(moving, "animation:") < 10 {
			t.Errorf("%s: what moves does not depend on whether motion is wanted", name)
		}
		for _, want := range []string{">claude hit its usage limit; ", ">ok<"} {
			_, after, found := strings.Cut(drawn, want)
			if before := strings.TrimSuffix(drawn, want+after); !found || strings.LastIndex(before, `<g class="past`) > strings.LastIndex(before, `<g class="s`) {
				t.Errorf("%s: the end of the picture lacks %s", name, want)
			}
		}
	}
}
