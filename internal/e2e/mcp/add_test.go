//go:build linux

package mcp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/test/must"
)

// user is a person with a home and a repository, who calls agents and belay in it.
type user struct {
	*stage
	home, repo string
}

func newUser(t *testing.T) *user {
	t.Helper()
	s := newStage(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.OK(t, err)
	u := &user{s, filepath.Join(dir, "home"), filepath.Join(dir, "repo")}
	for _, d := range []string{u.home, filepath.Join(u.repo, "sub")} {
		must.OK(t, os.MkdirAll(d, 0o700))
	}
	s.env = []string{"HOME=" + u.home, "CLAUDE_CONFIG_DIR=", "CODEX_HOME=", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	u.calls(u.repo, "git", "init", "-q")
	return u
}

// calls runs a command, which must succeed, in a directory and returns what it prints.
func (u *user) calls(dir, name string, args ...string) string {
	u.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(u.environ("plain"), "PWD="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		u.Fatalf("%s %q: %v\n%s", filepath.Base(name), args, err, out)
	}
	return string(out)
}

func (u *user) read(name string) string {
	u.Helper()
	text, err := os.ReadFile(filepath.Join(u.home, name))
	if err != nil {
		u.Fatal(err)
	}
	return string(text)
}

// says checks that a text has all of these in it.
func (u *user) says(text string, want ...string) {
	u.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			u.Errorf("no %q in\n%s", w, text)
		}
	}
}

// What the real `claude mcp add` writes, in a subdirectory and without a scope, is found, works behind belay, and is given back as claude
// wrote it, although claude has written the file anew meanwhile.
func TestInstall_WhatClaudeAdds(t *testing.T) {
	u := newUser(t)
	claude, sub := clitest.Claude(t, ""), filepath.Join(u.repo, "sub")
	u.calls(sub, claude, "mcp", "add", "lab", "--", probePath(), "-x")
	_, server, _ := strings.Cut(u.read(".claude.json"), `"lab": {`)
	server, _, _ = strings.Cut(server, "}")

	u.says(u.calls(sub, belayPath(), "mcp", "status", "--client", "claude"), "1 server in the local scope", "lab                  direct\n")
	u.says(u.calls(sub, belayPath(), "mcp", "install", "--client", "claude", "--scope", "local"), "lab is now behind belay\n")
	u.says(u.calls(u.repo, claude, "mcp", "list"), "lab: "+belayPath()+" mcp --name lab -- "+probePath()+" -x", "Connected")
	u.calls(u.repo, claude, "mcp", "add", "other", "--", probePath())
	u.says(u.calls(sub, belayPath(), "mcp", "status", "--client", "claude"), "2 servers in the local scope", "lab                  behind belay\n", "other                direct\n")
	u.calls(sub, belayPath(), "mcp", "uninstall", "--client", "claude", "--scope", "local")
	u.says(u.read(".claude.json"), `"lab": {`+server+"}")
	if _, err := os.Lstat(filepath.Join(u.home, ".claude.json.belay-backup")); err == nil {
		t.Error("the copy is left")
	}
	if full { // every day the file is enough: it is as claude wrote it
		u.says(u.calls(u.repo, claude, "mcp", "list"), "lab: "+probePath()+" -x", "Connected")
	}
}

// The same with codex, which keeps the layout of its file.
func TestInstall_WhatCodexAdds(t *testing.T) {
	u := newUser(t)
	codex := clitest.Codex(t, "")
	u.calls(u.repo, codex, "mcp", "add", "lab", "--", probePath(), "-x")
	u.calls(u.repo, codex, "mcp", "add", "bare", "--", probePath())
	before := u.read(".codex/config.toml")
	u.says(u.calls(u.repo, belayPath(), "mcp", "install", "--client", "codex"), "lab is now behind belay\n", "bare is now behind belay\n")
	u.says(u.calls(u.repo, codex, "mcp", "list", "--json"), belayPath(), `"--name=bare"`)
	u.calls(u.repo, codex, "mcp", "add", "other", "--", probePath())
	u.calls(u.repo, codex, "mcp", "remove", "other")
	u.calls(u.repo, belayPath(), "mcp", "uninstall", "--client", "codex")
	if now := u.read(".codex/config.toml"); now != before {
		t.Errorf("%s\nwant\n%s", now, before)
	}
}
