package scenario_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/rehearse/scenario"
	"github.com/belay-run/belay/internal/test/must"
)

// update tries the scenarios of a file and writes what was seen into it.
func update(t *testing.T, path string) (text string, err error) {
	t.Helper()
	list, err := scenario.Read(true, path)
	must.OK(t, err)
	updates, err := scenario.Run(t.Context(), "", list, 4, func(scenario.Outcome) {}).Updates()
	for _, u := range updates {
		must.OK(t, u.Write())
	}
	data, wrong := os.ReadFile(path)
	must.OK(t, wrong)
	return string(data), err
}

// What was not met is written anew where it stands, in its form. Comments, order and layout stay.
func TestUpdates(t *testing.T) {
	const before = `# A comment.
shell = "echo 'two \\'; echo -n later >file; exit 3" # another

[expect]
  exit = 0           # of the program
stdout = "one"
requests = "at least 1"
running = 0
files = { file = "contains sooner", other = "not contains x" }
[env]
A = "1"`
	after := strings.NewReplacer("exit = 0 ", "exit = 3 ", `"one"`, `"two \\"`, "at least 1", "at least 0", `"contains sooner"`, `"later"`, `, other = "not contains x"`, "").Replace(before)
	path := write(t, "x.toml", strings.Replace(before, `, other = "not contains x"`, "", 1))
	must.OK(t, os.Chmod(path, 0o640))
	link := filepath.Join(t.TempDir(), "link.toml")
	must.OK(t, os.Symlink(path, link))
	if got, err := update(t, link); err != nil || got != after {
		t.Errorf("%v\ngot:\n%s\nwant:\n%s", err, got, after)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is no more")
	}
	if got, err := update(t, path); err != nil || got != after {
		t.Errorf("a second time: %v\n%s", err, got)
	}
}

// A file that expects nothing expects all that was seen; then it passes.
func TestUpdates_First(t *testing.T) {
	path := write(t, "x.toml", "shell = \"echo '\\\"a\\\" <b>'; exit 1\"\n")
	want := "shell = \"echo '\\\"a\\\" <b>'; exit 1\"\n\n[expect]\nexit = 1\nrequests = 0\nrunning = 0\nstdout = \"\\\"a\\\" <b>\"\n"
	if got, err := update(t, path); err != nil || got != want {
		t.Errorf("%v\ngot:\n%s\nwant:\n%s", err, got, want)
	}
	if o := run(t, path)[0]; !o.Passed {
		t.Error(o.Why())
	}
}

// Variations are written where each says it, as long as they do not differ in what they share. What stands in another file stays.
func TestUpdates_Variations(t *testing.T) {
	for _, test := range []struct{ name, text, want, wrong string }{
		{"Own", "shell = \"exit $N\"\n[vary.n]\none = { env = { N = \"1\" }, expect = { exit = 5 } }\n[vary.n.two]\nenv = { N = \"2\" }\nexpect.exit = 5\n",
			"one = { env = { N = \"1\" }, expect = { exit = 1 } }\n[vary.n.two]\nenv = { N = \"2\" }\nexpect.exit = 2\n", ""},
		{"Shared", "shell = \"exit $N\"\nexpect = { exit = 0 }\n[vary.n]\none = { env = { N = \"1\" } }\ntwo = { env = { N = \"2\" } }\n", "exit = 0", "differ in exit"},
		{"Alike", "shell = \"exit 4\"\nexpect = { exit = 0 }\n[vary.n]\none = {}\ntwo = {}\n", "expect = { exit = 4 }", ""},
		{"Elsewhere", "extends = \"_base.toml\"\n", "extends", "exit: expected 0, got 7"},
		{"MissingFile", "shell = \"true\"\nexpect.files.x = \"y\"\n", "expect.files.x = \"y\"", "no such file"},
		{"LooksLikeACondition", "shell = \"echo 'matches ('\"\nexpect.stdout = \"y\"\n", "expect.stdout = \"y\"", "missing closing )"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := update(t, write(t, "x.toml", test.text, "_base.toml", "shell = \"exit 7\"\n[expect]\nexit = 0\n"))
			if !strings.Contains(got, test.want) || (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%v\n%s", err, got)
			}
			if test.wrong != "" && got != test.text {
				t.Errorf("it was written:\n%s", got)
			}
		})
	}
}

// Whatever a file says, its places are in it, and what was written can be read.
func FuzzRead(f *testing.F) {
	f.Add("shell = \"x\"\n[expect]\nexit = 0\n[vary.a.b]\nexpect = { files = { \"a.b\" = 'x' } }\n")
	f.Add("a.b = [1, { c = 2 }]\n[[d]]\n\"\\u00e9\" = '''\nx'''\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "x.toml")
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
		list, err := scenario.Read(true, path)
		if err == nil && len(list) == 0 {
			t.Error("neither a scenario nor a mistake")
		}
	})
}
