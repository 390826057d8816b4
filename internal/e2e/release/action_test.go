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
)

// step runs a step of the action as GitHub's runner does: inputs are variables, and what it writes to the runner's files counts for
// later steps.
func step(t *testing.T, dir, name string, inputs ...string) (string, error) {
	t.Helper()
	script, err := filepath.Abs("../../../scripts/action")
	if err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	if added, err := os.ReadFile(filepath.Join(dir, "path")); err == nil {
		path = strings.TrimSpace(string(added)) + ":" + path
	}
	cmd := exec.Command("bash", script, name)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + path, "HOME=" + dir, "RUNNER_TEMP=" + dir, "GITHUB_ACTIONS=true", "GITHUB_PATH=" + filepath.Join(dir, "path"),
		"GITHUB_OUTPUT=" + filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary")}, inputs...)
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
	if out, err := step(t, dir, "install", "INPUT_VERSION=v"+current, "INPUT_FROM="+server.URL); err != nil {
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
	for _, name := range []string{"output", "summary"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(text) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if out, err := step(t, dir, "install", "INPUT_VERSION=main"); err == nil || !strings.Contains(out, "there is no release main") {
		t.Errorf("%v\n%s", err, out)
	}
}
