//go:build linux

package release

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/test/must"
)

// step runs a step of the action as GitHub's runner does: inputs are variables, and what it writes to the runner's files counts for
// later steps.
func step(t *testing.T, dir, name string, inputs ...string) (string, error) {
	t.Helper()
	return stepOf(t, "../../..", dir, name, inputs...)
}

// stepOf runs a step of an action that is checked out in root.
func stepOf(t *testing.T, root, dir, name string, inputs ...string) (string, error) {
	t.Helper()
	script, err := filepath.Abs(filepath.Join(root, "scripts/action"))
	must.OK(t, err)
	path := filepath.Join(dir, "tools") + ":" + os.Getenv("PATH")
	if added, err := os.ReadFile(filepath.Join(dir, "path")); err == nil {
		path = strings.TrimSpace(string(added)) + ":" + path
	}
	cmd := exec.Command("bash", script, name)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + path, "HOME=" + dir, "RUNNER_TEMP=" + dir, "GITHUB_ACTIONS=true", "GITHUB_PATH=" + filepath.Join(dir, "path"),
		"BELAY_FOLD=off", "GITHUB_OUTPUT=" + filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary")}, inputs...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The action installs Belay and runs a command behind it. Nothing in its inputs is run by a shell.
func TestAction(t *testing.T) {
	t.Parallel()
	need(t, false, "curl", "bash")
	server := httptest.NewServer(http.FileServer(http.Dir(made(t, current))))
	defer server.Close()
	dir := t.TempDir()
	if out, err := step(t, dir, "install", "INPUT_VERSION=v"+current, "INPUT_FROM="+server.URL, "INPUT_VERIFY=false"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	hostile := "$(touch evil) `touch evil`; touch evil #\n::error::x"
	out, err := step(t, dir, "run", `INPUT_COMMAND=sh -c 'cat; echo "<$0> <$1>"' 'a b' $(touch${IFS}evil)`, "INPUT_PROMPT="+hostile, "INPUT_FLAGS=--timeout 1m")
	if err != nil || out != hostile+"<a b> <$(touch${IFS}evil)>\n" {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = step(t, dir, "run", "INPUT_COMMAND=sh -c 'exit 9'")
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 9 || !strings.Contains(out, "::error title=belay") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "evil")); err == nil {
		t.Error("an input was run by a shell")
	}
	program(t, filepath.Join(dir, "my scenarios/x.toml"), "shell = 'exit 3'\n[expect]\nexit = 4\n")
	if out, err := step(t, dir, "test", `INPUT_SCENARIOS="my scenarios"`); err == nil || !strings.Contains(out, "::error file=my scenarios/x.toml,title=belay rehearse test%3A x::exit: expected 4, got 3") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, name := range []string{"output", "summary"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(text) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// program writes a shell script that stands for a program of the runner.
func program(t *testing.T, path, script string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.OK(t, built.WriteFile(path, []byte("#!/bin/sh\n"+script)))
}

// Every word of an input reaches belay, or the step fails: a quote too many once took the limits below it away, and the step was green.
func TestAction_Words(t *testing.T) {
	t.Parallel()
	need(t, false, "bash")
	for _, c := range []struct{ name, flags, command, want string }{
		{"Plain", "--max-cost 2\n--timeout 20m\n", "claude -p", "<run><--github><--max-cost><2><--timeout><20m><--><claude><-p>"},
		{"None", "", "claude", "<run><--github><--><claude>"},
		{"Quotes", `--name "nightly run" --tag 'a "b"'x""`, `sh -c 'echo $HOME; exit' ''`, `<run><--github><--name><nightly run><--tag><a "b"x><--><sh><-c><echo $HOME; exit><>`},
		{"Backslash", `--name don\'t\ do\\`, `claude "a\b" \$x *`, `<run><--github><--name><don't do\><--><claude><a\b><$x><*>`},
		{"Blanks", "\t--quiet \r\n\n", "  claude\f-p\r\n", "<run><--github><--quiet><--><claude><-p>"},
		{"Continued", "--max-cost 2 \\\n  --timeout 5m", "claude", "<run><--github><--max-cost><2><--timeout><5m><--><claude>"},
		{"NotASCII", "--name \"größer\u00a0als\"", "claude \xff", "<run><--github><--name><größer\u00a0als><--><claude><\xff>"},
		{"FlagsUnbalanced", "--timeout 5m\n--name \"nightly run\n--max-cost 2", "claude", "::error title=belay::line 2 of flags has a quote"},
		{"OverLines", "--name \"nightly\n--max-cost 2\n--tag x\"", "claude", "::error title=belay::line 1 of flags has a quote"},
		{"Apostrophe", "", "claude -p --append-system-prompt don't --disallowedTools Bash", "::error title=belay::line 1 of command has a quote"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			program(t, filepath.Join(dir, "tools/belay"), `printf '<%s>' "$@"`)
			out, err := step(t, dir, "run", "INPUT_FLAGS="+c.flags, "INPUT_COMMAND="+c.command)
			if failed := strings.HasPrefix(c.want, "::error"); failed != (err != nil) || !failed && out != c.want || !strings.HasPrefix(out, c.want) || strings.Count(out, "::error") > 1 {
				t.Errorf("%v\n%q\nwant\n%q", err, out, c.want)
			}
		})
	}
}

// A version that is not one whole version is refused before anything is fetched, and nothing in it is a command of the workflow.
func TestAction_Version(t *testing.T) {
	t.Parallel()
	need(t, false, "bash")
	dir := t.TempDir()
	program(t, filepath.Join(dir, "tools/curl"), "echo FETCHED $@; exit 22")
	for _, version := range []string{"main", "0.1.0/../../../../evil/repository", "0.1", "x\n::add-mask::y", "0.1.0\n::warning::y", "0.1.0 --from x"} {
		out, err := step(t, dir, "install", "INPUT_VERSION="+version)
		if err == nil || !strings.HasPrefix(out, "::error title=belay::there is no release ") || strings.Count(out, "\n") != 1 || strings.Contains(out, "FETCHED") {
			t.Errorf("%q: %v\n%s", version, err, out)
		}
	}
}

// verifies is a gh that can verify where a file comes from, and says yes; what it was asked is in the file gh above it.
const verifies = `case "$*" in *--help*) echo --source-digest ;; *) echo "$@" >"$(dirname "$0")/../gh" ;; esac
`

// A workflow that names the action by a commit runs nothing that the commit does not determine: the installer comes with the action, the
// version is the one of that commit, and the archive has to be built from it.
func TestAction_Pinned(t *testing.T) {
	t.Parallel()
	need(t, false, "bash")
	const commit = "0123456789abcdef0123456789abcdef01234567"
	pinned := func(t *testing.T, changes string) string {
		root := t.TempDir()
		for _, name := range []string{"scripts/action", "install.sh"} {
			must.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
			run(t, "cp", "../../../"+name, filepath.Join(root, name))
		}
		must.OK(t, os.WriteFile(filepath.Join(root, "CHANGELOG.md"), []byte("# Changes\n\n"+changes+"\n## 0.2.0 – 2026-11-01\n"), 0o644))
		return root
	}
	const released = "## 0.3.0 – 2026-12-01\n"
	for _, c := range []struct {
		name, changes, gh, want string
		inputs                  []string
		asked                   []string // of gh
	}{
		{name: "Commit", changes: released, gh: verifies, want: "installed belay 0.3.0", asked: []string{"--source-digest " + commit, "--source-ref refs/tags/v0.3.0", "--repo belay-run/belay",
			"--signer-workflow belay-run/belay/.github/workflows/release.yml", "--deny-self-hosted-runners"}},
		{name: "OtherVersion", changes: "## 0.4.0 – 2027-01-01\n", gh: verifies, inputs: []string{"INPUT_VERSION=v0.3.0"}, want: "installed belay 0.3.0", asked: []string{"--source-ref refs/tags/v0.3.0"}},
		{name: "Tag", changes: released, gh: verifies, inputs: []string{"ACTION_REF=v0.3.0"}, want: "installed belay 0.3.0", asked: []string{"--source-ref refs/tags/v0.3.0"}},
		{name: "BuiltElsewhere", changes: released, gh: verifies + "case $* in *--bundle*) exit 1 ;; esac\n", want: "nothing was installed"},
		{name: "NoGh", changes: released, gh: "exit 1\n", want: "gh is not installed"},
		{name: "TagNoGh", changes: released, gh: "exit 1\n", inputs: []string{"ACTION_REF=v0.3.0"}, want: "installed belay 0.3.0"},
		{name: "TagMustVerify", changes: released, gh: "exit 1\n", inputs: []string{"ACTION_REF=v0.3.0", "INPUT_VERIFY=true"}, want: "gh is not installed"},
		{name: "NotVerified", changes: released, gh: "exit 1\n", inputs: []string{"INPUT_VERIFY=false"}, want: "installed belay 0.3.0"},
		{name: "NoRelease", changes: "## 0.3.0 – unreleased\n", gh: verifies, want: "::error title=belay::the action's commit is not a release"},
	} {
		t.Run(c.name, func(t *testing.T) {
			release, dir := newSmall(t, "0.3.0"), t.TempDir()
			program(t, filepath.Join(dir, "tools/gh"), c.gh)
			out, err := stepOf(t, pinned(t, c.changes), dir, "install", append([]string{"ACTION_REF=" + commit, "INPUT_FROM=" + release.url}, c.inputs...)...)
			installed := strings.HasPrefix(c.want, "installed")
			if installed != (err == nil) || !strings.Contains(out, c.want) {
				t.Errorf("%v\n%s", err, out)
			}
			if _, err := os.Stat(filepath.Join(dir, "belay/bin/belay")); installed != (err == nil) {
				t.Errorf("installed: %v", err)
			}
			if release.took("install.sh") {
				t.Error("the installer was fetched")
			}
			asked, _ := os.ReadFile(filepath.Join(dir, "gh"))
			for _, want := range c.asked {
				if !strings.Contains(string(asked), want) {
					t.Errorf("gh was not asked for %s: %s", want, asked)
				}
			}
			if c.asked != nil && strings.Contains(string(asked), commit) != (c.name == "Commit") {
				t.Errorf("gh was asked: %s", asked)
			}
		})
	}
}
