//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/test/must"
)

// recipe is the code of a section of docs/recipes.md, block by block.
func recipe(t *testing.T, heading string) (blocks []string) {
	t.Helper()
	data, err := os.ReadFile("../../docs/recipes.md")
	must.OK(t, err)
	_, section, found := strings.Cut(string(data), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, m := range regexp.MustCompile("(?s)\n```[a-z]*\n(.*?\n)```\n").FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, m[1])
	}
	if !found || blocks == nil {
		t.Fatalf("docs/recipes.md has no recipe %q", heading)
	}
	return blocks
}

// kitchen is where a recipe is tried: programs are where an installer puts them for a user, the services follow a script, and nothing else is there.
type kitchen struct {
	*run
	bin string
}

func newKitchen(t *testing.T) *kitchen {
	t.Helper()
	k := &kitchen{run: newRun(t, 0)}
	k.bin = filepath.Join(k.dir, "home/.local/bin")
	must.OK(t, os.MkdirAll(k.bin, 0o700))
	for name, path := range map[string]string{"belay": filepath.Join(programs(t), "belay"), "belayd": filepath.Join(binDir, "belayd"), "claude": clitest.Claude(t, "")} {
		path, err := filepath.Abs(path)
		must.OK(t, err)
		must.OK(t, os.Symlink(path, filepath.Join(k.bin, name)))
	}
	return k
}

// file writes a file of the recipe, with the paths of the kitchen.
func (k *kitchen) file(name, text string, mode os.FileMode) {
	k.t.Helper()
	path := filepath.Join(k.dir, name)
	must.OK(k.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(k.t, os.WriteFile(path, []byte(strings.NewReplacer("/home/me", k.dir+"/home", "%h", k.dir+"/home").Replace(text)), mode))
}

// cook runs a line of the shell while the services follow the script, with the environment that cron gives, the PATH of the kitchen and the login of the
// rehearsal. It returns what the line prints, without the report of the rehearsal.
func (k *kitchen) cook(script, line string) (stdout, stderr string) {
	k.t.Helper()
	const alone = `exec 2>stderr env -i HOME="$HOME" LOGNAME=me SHELL=/bin/sh PATH="$0" BELAY_STATE_DIR="$BELAY_STATE_DIR" BELAY_FOLD=off ` +
		`$(env | grep -E '^(ANTHROPIC|CLAUDE)_') BUN_JSC_useDFGJIT=0 BUN_JSC_numberOfGCMarkers=1 sh -c "$1"`
	cmd := k.command("belay", "rehearse", "--script", script, "--", "sh", "-c", alone, k.bin+":/usr/local/bin:/usr/bin:/bin", line)
	report := &strings.Builder{}
	cmd.Stderr = report
	out, err := cmd.Output()
	said, _ := os.ReadFile(filepath.Join(k.dir, "stderr"))
	if err != nil {
		k.t.Errorf("%v\n%s\n%s", err, report, said)
	}
	return string(out), string(said)
}

func TestRecipe_Cron(t *testing.T) {
	t.Parallel()
	k := newKitchen(t)
	lines := strings.Split(recipe(t, "Run an agent from cron")[0], "\n")
	k.file("home/project/README", "", 0o600)
	if want := strings.Replace("PATH=/home/me/.local/bin:/usr/local/bin:/usr/bin:/bin", "/home/me", k.dir+"/home", 1); strings.ReplaceAll(lines[0], "/home/me", k.dir+"/home") != want {
		t.Errorf("the crontab has %s", lines[0])
	}
	line := strings.ReplaceAll(lines[2], "/home/me", k.dir+"/home")
	fields := regexp.MustCompile(`^(\S+\s+){5}`).FindString(line)
	stdout, stderr := k.cook(`429(retry-after=1), 200(text="Updated.")`, line[len(fields):])
	answer, err := os.ReadFile(filepath.Join(k.dir, "home/project/nightly.out"))
	if fields == "" || err != nil || string(answer) != "Updated.\n" || stdout+stderr != "" {
		t.Errorf("%v %q; what cron would mail: %q", err, answer, stdout+stderr)
	}
}

func TestRecipe_Python(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	k := newKitchen(t)
	blocks := recipe(t, "Call an agent from Python")
	k.file("ask.py", blocks[0], 0o600)
	if stdout, stderr := k.cook(`429(retry-after=1), 200(text="Seven.", in=1000, out=100)`, python+" ask.py"); !regexp.MustCompile(`^Seven\. 0\.00\d+\n$`).MatchString(stdout) {
		t.Errorf("%s\n%s", stdout, stderr)
	}
	k.file("sdk.py", blocks[len(blocks)-1], 0o600)
	if out, err := k.command(python, "-m", "py_compile", "sdk.py").CombinedOutput(); err != nil {
		t.Errorf("%s", out)
	}
}

func TestRecipe_GitHook(t *testing.T) {
	t.Parallel()
	k := newKitchen(t)
	k.file("repository/.git/hooks/pre-commit", recipe(t, "Have an agent review each commit")[0], 0o700)
	k.file("repository/key.txt", "secret\n", 0o600)
	const repository = `cd repository && git init -q && git config user.name Me && git config user.email me@example.com && git add . && `
	commits := []string{"git commit -q -m Key || echo refused", "git commit -q -m Key && git log --format=%s"}
	want := "refused\nKey\n"
	if !clitest.Full() { // each start of claude costs a second of CPU
		commits, want = commits[:1], "refused\n"
	}
	stdout, stderr := k.cook(`200(text="BLOCK key.txt has a key"), usage-limit(resets=3h)`, repository+"{ "+strings.Join(commits, "; ")+"; }")
	if stdout != want || !strings.Contains(stderr, "BLOCK key.txt has a key\n") {
		t.Errorf("%s\n%s", stdout, stderr)
	}
}

func TestRecipe_GitLab(t *testing.T) {
	if !clitest.Full() {
		t.Skip("much like the recipe for cron")
	}
	t.Parallel()
	k := newKitchen(t)
	lines := regexp.MustCompile(`(?m)^    - (belay .*)$`).FindAllStringSubmatch(recipe(t, "Run an agent in GitLab CI")[0], -1)
	if len(lines) != 2 {
		t.Fatalf("%q", lines)
	}
	k.cook(`overloaded, 200(text="Fine.")`, lines[0][1]+"\n"+lines[1][1])
	for name, want := range map[string]string{"result.json": `"success":true`, "report.md": "| `claude` |"} {
		if data, err := os.ReadFile(filepath.Join(k.dir, name)); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v\n%s", name, err, data)
		}
	}
}

// Systemd finds nothing wrong in the units.
func TestRecipe_Systemd(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	k := newKitchen(t)
	blocks := recipe(t, "Run an agent from a systemd timer")
	k.file("home/project/README", "", 0o600)
	k.file("units/nightly.service", blocks[0], 0o600)
	k.file("units/nightly.timer", blocks[1], 0o600)
	cmd := k.command("systemd-analyze", "verify", "--user", "--man=no", "units/nightly.service", "units/nightly.timer")
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "nightly.") {
			t.Errorf("%v: %s", err, line)
		}
	}
}

// The batch of the night, in a rehearsal: what the recipe types in the morning finds it.
func TestRecipe_Batch(t *testing.T) {
	if !clitest.Full() {
		t.Skip("TestDocs_CommandsAreThere knows its commands, and internal/e2e/agents what a batch does at a limit")
	}
	t.Parallel()
	k := newKitchen(t)
	blocks := recipe(t, "Work through a list at night, within a budget")
	k.file("tasks.txt", "one\n", 0o600)
	begin := strings.Replace(blocks[0], "--at 01:00", "--at 1s", 1)
	stdout, stderr := k.cook(`200(text="Done.")`, "id=$("+strings.TrimSpace(begin)+") && belay attach $id >/dev/null 2>&1\n"+blocks[1])
	for _, want := range []string{"1 of 1 done", "claude", "nightly"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s\n%s", want, stdout, stderr)
		}
	}
}
