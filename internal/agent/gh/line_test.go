package gh

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// Which commands change something, take long or want a person.
func TestLine(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"query.graphql": "query { a }", "mutation.graphql": "# a query\nmutation M { a }",
		"query.json": `{"query":"{ a }"}`, "big.json": strings.Repeat("x", maxTraced+1),
	} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	for line, want := range map[string]string{ // c changes, s short, h headless, t traced
		"issue list":                             "sht",
		"issue list -L 1000":                     "ht",
		"issue list --limit=20":                  "sht",
		"issue list -w":                          "st",
		"issue list --web":                       "st",
		"issue ls":                               "sht",
		"run list -w build.yml":                  "sht",
		"issue create":                           "cst",
		"issue create -t x":                      "cst",
		"issue create -t x -b y":                 "csht",
		"issue new -t x -b y":                    "csht",
		"issue create --title=x -Fbody.md":       "csht",
		"issue create -t x -b y -e":              "csht",
		"issue create -t x -b y --editor":        "cst",
		"issue -R o/r create -t x -b y":          "csht",
		"-R o/r issue view 1":                    "sht",
		"issue comment 1 -b x":                   "csht",
		"issue comment 1":                        "cst",
		"issue edit 1":                           "ct",
		"issue edit 1 --add-label x":             "cht",
		"issue view 1":                           "sht",
		"issue create -t x -b y --attach a.png":  "csh",
		"pr create --fill":                       "cht",
		"pr create --fill --dry-run":             "ht",
		"pr create -t x -b y":                    "cht",
		"pr create":                              "ct",
		"pr merge 1 --squash":                    "cht",
		"pr merge 1":                             "ct",
		"pr checks 1":                            "sht",
		"pr checks 1 --watch":                    "ht",
		"pr checkout":                            "t",
		"pr checkout 1":                          "ht",
		"run watch 1":                            "ht",
		"run watch":                              "t",
		"run download 1":                         "ht",
		"repo clone o/r":                         "ht",
		"repo delete o/r":                        "cst",
		"repo delete o/r --yes":                  "csht",
		"release upload v1 x":                    "ch",
		"release create v1 -n x":                 "ch",
		"release download v1":                    "ht",
		"auth login":                             "ct",
		"auth status":                            "sht",
		"codespace ssh":                          "ct",
		"codespace create":                       "ct",
		"cs list":                                "h",
		"browse":                                 "t",
		"workflow run x.yml":                     "csht",
		"workflow run":                           "cst",
		"my-extension":                           "c",
		"co 12":                                  "c",
		"issue nope":                             "c",
		"":                                       "sht",
		"--version":                              "sht",
		"issue create --help":                    "sht",
		"issue create -t --help -b y":            "csht",
		"issue create -t x -b y -- --help":       "csht",
		"pr merge 1 --squash -t --help":          "cht",
		"pr merge --help":                        "sht",
		"my-extension --help":                    "c",
		"my-extension --version":                 "c",
		"extension exec my-extension --help":     "c",
		"issue --help":                           "sht",
		"issue nope --help":                      "c",
		"repo autolink --help":                   "sht",
		"pr co 12":                               "ht",
		"secret remove x":                        "csht",
		"codespace logs":                         "ct",
		"my-extension -m --help":                 "c",
		"help issue":                             "sht",
		"api user":                               "sht",
		"api user -f a=b":                        "csht",
		"api user -fa=b":                         "csht",
		"api user -F a=b":                        "csht",
		"api user -X GET -f a=b":                 "sht",
		"api user --method=get -f a=b":           "sht",
		"api -XDELETE user":                      "csht",
		"api user --input query.json":            "cht",
		"api user --input big.json":              "ch",
		"api user --paginate":                    "ht",
		"api user --nope":                        "cht",
		"api user -iX POST":                      "cht",
		"api repos/o/r/zipball":                  "ht",
		"api repos/o/r/actions/jobs/1/logs":      "ht",
		"api user -H accept:application/x":       "ht",
		"api user -H Accept:application/json":    "sht",
		"api https://uploads.github.com/x":       "ht",
		"api graphql -f query={a}":               "sht",
		"api graphql -f query=mutation{a}":       "csht",
		"api graphql -F query=@query.graphql":    "sht",
		"api graphql -F query=@mutation.graphql": "csht",
		"api graphql -F query=@-":                "csht",
		"api graphql -F query=@nope":             "csht",
		"api graphql --input query.json":         "ht",
		"api graphql --input -":                  "cht",
		"api graphql --paginate -f query={a}":    "ht",
		"api graphql":                            "csht",
		"api /graphql -f query={a}":              "sht",
		"api graphql -f query={a} -f query={b}":  "csht",
	} {
		p := New(append([]string{"gh"}, strings.Fields(line)...), nil, dir)
		got := ""
		for _, f := range []struct {
			mark string
			is   bool
		}{{"c", p.CallerInfo().Changes}, {"s", p.CallerInfo().Deadline > 0}, {"h", p.Headless()}, {"t", p.line.traced()}} {
			if f.is {
				got += f.mark
			}
		}
		if got != want {
			t.Errorf("gh %s: %q, want %q", line, got, want)
		}
	}
}

// The table has the commands of the real gh: those of `gh reference`, at the time.
func TestCommands(t *testing.T) {
	for name := range noPrompts() {
		if _, ok := commands()[name]; !ok {
			t.Errorf("no command %q", name)
		}
	}
	for name := range asksWhich() {
		if _, ok := commands()[name]; !ok {
			t.Errorf("no command %q", name)
		}
	}
	for name := range options() {
		if _, ok := commands()[name]; !ok {
			t.Errorf("no command %q", name)
		}
	}
	for name := range extraChangeOptions() {
		if commands()[name]&once == 0 {
			t.Errorf("%q is not known to change something once", name)
		}
	}
}

func TestIsMutation(t *testing.T) {
	for document, want := range map[string]bool{
		"{ a }":                                    false,
		"query Mutation { mutation }":              false,
		"query { a(b: \"mutation { x\") }":         false,
		"# mutation\n{ a }":                        false,
		"{ a(b: \"\"\"\nmutation { }\n\"\"\") }":   false,
		"mutation{a}":                              true,
		"mutation M($a: X = {b: 1}) { a }":         true,
		"query A { a } mutation B { b }":           true,
		"fragment F on X { mutation } query { a }": false,
		"": false,
	} {
		if isMutation(document) != want {
			t.Errorf("%q: %v", document, !want)
		}
	}
}

func FuzzQuery(f *testing.F) {
	f.Add("query A($x: [Int!] = 1) { a(b: \"x\\\"\") { ... on B { c } } } # x")
	f.Add(`mutation { a(b: """x""") }`)
	f.Fuzz(func(t *testing.T, document string) { operation(document, ""); isMutation(document) })
}

// Command lines that share a limit share a gate.
func TestGate(t *testing.T) {
	dir := t.TempDir()
	hosts := "github.com:\n    users:\n        octo:\n            oauth_token: gho_x\n    oauth_token: gho_y\n    user: octo\nghe.example.com:\n    user: other\n"
	must.OK(t, os.WriteFile(filepath.Join(dir, "hosts.yml"), []byte(hosts), 0o600))
	key := func(line string, env ...string) string {
		return New(append([]string{"gh"}, strings.Fields(line)...), append([]string{"GH_CONFIG_DIR=" + dir}, env...), "").CallerInfo().Gate
	}
	stored, env := key("api user"), key("api user", "GH_TOKEN=gho_y")
	if !strings.HasPrefix(stored, "gh:github.com:") || len(stored) != len("gh:github.com:")+8 || stored != env {
		t.Errorf("%q, %q", stored, env)
	}
	for _, same := range []string{key("issue list"), key("issue list -R o/r"), key("pr view https://github.com/o/r/pull/1", "GH_HOST=x"), key("api user", "GITHUB_TOKEN=gho_y")} {
		if same != stored {
			t.Errorf("%q", same)
		}
	}
	for _, other := range []string{key("api user", "GH_TOKEN=z"), key("api user", "GH_CONFIG_DIR=/nope")} {
		if other == stored || !strings.HasPrefix(other, "gh:github.com:") {
			t.Errorf("%q", other)
		}
	}
	for _, ghe := range []string{key("api --hostname ghe.example.com x"), key("issue list -R ghe.example.com/o/r"), key("issue list --repo=GHE.example.com/o/r"), key("issue list", "GH_HOST=ghe.example.com"), key("issue list", "GH_REPO=ghe.example.com/o/r")} {
		if ghe != key("api x", "GH_HOST=ghe.example.com", "GH_TOKEN=not for this host") || !strings.HasPrefix(ghe, "gh:ghe.example.com:") {
			t.Errorf("%q", ghe)
		}
	}
}
