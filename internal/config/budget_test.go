package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// userFile makes the user's file of a test.
func userFile(t *testing.T, text string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	must.OK(t, os.MkdirAll(filepath.Join(home, "belay"), 0o700))
	must.OK(t, os.WriteFile(filepath.Join(home, "belay", "config.toml"), []byte(text), 0o600))
}

func TestBudget_Joins(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	t.Setenv("HOME", dir)
	userFile(t, `
[budget.team]
limit = 100
window = "month"
profile = ["claude", "codex"]
directory = "~/src"

[budget.here]
limit = "$2.50"
window = "day"
directory = ["`+link+`"]

[budget.nightly]
limit = 5
window = "day"
strict = true

[budget.web]
tag = ["team=web"]
name = "build"
`)
	src := filepath.Join(dir, "src", "app")
	must.OK(t, os.MkdirAll(src, 0o700))
	for name, tt := range map[string]struct {
		flag   string
		member Member
		want   string
	}{
		"nothing of it":         {"", Member{Profile: "claude", Dir: "/elsewhere"}, ""},
		"below a directory":     {"", Member{Profile: "claude", Dir: src}, "here team"},
		"another profile":       {"", Member{Profile: "generic", Dir: src}, "here"},
		"a name that begins so": {"", Member{Profile: "claude", Dir: dir + "-2"}, ""},
		"by its name":           {"nightly", Member{Profile: "claude", Dir: "/elsewhere"}, "nightly"},
		"twice":                 {"team", Member{Profile: "claude", Dir: src}, "team here"},
		"by its name, again":    {"nightly=5/day,nightly", Member{Dir: "/elsewhere"}, "nightly"},
		"several":               {"a,b=1/week,a=2/day", Member{Dir: "/elsewhere"}, "a b"},
		"one of two labels":     {"", Member{Dir: "/elsewhere", Name: "build"}, ""},
		"both labels":           {"", Member{Dir: "/elsewhere", Name: "build", Tags: []string{"x=y", "team=web"}}, "web"},
	} {
		given := Given{}
		if tt.flag != "" {
			given["budget"] = tt.flag
		}
		s, _, err := Load(given, tt.member.Profile)
		must.OK(t, err)
		var names []string
		for _, j := range s.Joins(tt.member) {
			names = append(names, j.Name)
			switch {
			case j.Name == "nightly" && (j.Terms == nil || j.Terms.Limit != 5 || !j.Terms.Strict),
				j.Name == "here" && (j.Terms == nil || j.Terms.Limit != 2.5),
				j.Name == "web" && j.Terms != nil:
				t.Errorf("%s: %s has %+v", name, j.Name, j.Terms)
			}
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	shown, err := Show("")
	var lines []string
	for _, s := range shown {
		if s.Kind == "budget" {
			lines = append(lines, s.Name+": "+s.Value)
		}
	}
	if got := strings.Join(lines, "; "); err != nil || got != "here: $2.5 a day; nightly: $5 a day, strict; team: $100 a month; web: no limit" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestBudget_Mistakes(t *testing.T) {
	for text, want := range map[string]string{
		"[budget.x]\nlimit = -5\nwindow = 'day'":                   "config.toml:2: budget.x.limit: \"-5\" is not an amount",
		"[budget.x]\nlimit = 'abc'\nwindow = 'day'":                "config.toml:2: budget.x.limit: \"abc\" is not an amount",
		"[budget.x]\nlimit = 5\nwindow = 'hour'":                   "config.toml:3: budget.x.window: \"hour\" is not day, week or month",
		"[budget.x]\nlimit = 5":                                    "config.toml:1: budget.x: has a limit but no window",
		"[budget.x]\nwindow = 'day'":                               "config.toml:1: budget.x: has no limit",
		"[budget.x]\nlimt = 5":                                     "config.toml:2: budget.x.limt: unknown key",
		"[budget.x]\nlimit = 5\nwindow = 'day'\nstrict = 'yes'":    "config.toml:4: budget.x.strict: must be true or false",
		"[budget.x]\nlimit = 5\nwindow = 'day'\nprofile = 'claud'": "config.toml:4: budget.x.profile: there is no profile claud",
		"[budget.x]\nlimit = 5\nwindow = 'day'\nprofile = []":      "config.toml:4: budget.x.profile: is empty",
		"[budget.x]\nlimit = 5\nwindow = 'day'\ndirectory = 'src'": "config.toml:4: budget.x.directory: \"src\" is not an absolute path",
		"[budget.x]\nlimit = 5\nwindow = 'day'\ntag = 'web'":       "config.toml:4: budget.x.tag: \"web\" is not a tag: write KEY=VALUE",
		"[budget.'a b']\nlimit = 5":                                "config.toml:1: budget.a b: \"a b\" is not a name",
		"[budget]\nx = 5":                                          "config.toml:2: budget.x: must be a table",
		"budget = 'x=5/day,x=6/week'":                              "config.toml:1: budget: budget x has two limits",
		"budget = 'x=5'":                                           "config.toml:1: budget: \"5\" has no window",
	} {
		userFile(t, text)
		if _, _, err := Load(nil, "claude"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"[budget.x]\nlimit = 5\nwindow = 'day'", "budget = 'x=5/day'"} {
		f, err := parseFile(".belay.toml", []byte(text), true)
		must.OK(t, err)
		s := &Settings{origins: newOrigins()}
		s.bound(f, "claude")
		if len(f.budgets) > 0 || len(s.Budgets) > 0 || len(s.Ignored) != 1 {
			t.Errorf("%q in a project's file: %v %v, ignored %v", text, f.budgets, s.Budgets, s.Ignored)
		}
	}
}
