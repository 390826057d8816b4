package clientfile_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
)

// claude names a project by the main working tree of its repository, with its links resolved; so it was seen with claude 2.1.325.
func TestLocal_IsTheProjectsName(t *testing.T) {
	at(t, "claude", clientfile.Servers, clientfile.Local)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.OK(t, err)
	repo, sub := filepath.Join(dir, "repo"), filepath.Join(dir, "repo", "sub")
	must.OK(t, os.MkdirAll(sub, 0o700))
	for _, args := range [][]string{{"init", "-q"}, {"commit", "-q", "--allow-empty", "-m", "x"}, {"worktree", "add", "-q", "../tree"}} {
		git := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		git.Dir = repo
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if err := os.Symlink(sub, filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	text := fmt.Sprintf(`{"projects": {%q: {"mcpServers": {"db": {"command": "s", "args": []}}}}}`, repo)
	for _, place := range []string{"repo", "repo/sub", "tree", "link"} {
		t.Run(place, func(t *testing.T) {
			t.Chdir(filepath.Join(dir, place))
			l := at(t, "claude", clientfile.Servers, clientfile.Local)
			if f := parse(t, l, text); len(f.Entries) != 1 {
				t.Errorf("%+v", f.Entries)
			}
			install(t, l, text, belay)
		})
	}
	// Versions before took the working directory; what they have installed can be undone.
	t.Chdir(sub)
	old := strings.Replace(fmt.Sprintf(`{"projects": {%q: {"mcpServers": {"db": {"command": "belay", "args": ["mcp", "--name", "db", "--", "s"]}}}}}`, sub), "\n", "", -1)
	edit, err := parse(t, at(t, "claude", clientfile.Servers, clientfile.Local), old).Uninstall()
	if err != nil || !strings.Contains(string(edit.After), `"command": "s", "args": []`) {
		t.Errorf("%v, %s", err, edit.After)
	}
}

// The user's servers and those of projects are in one file: its copy stays until belay stands nowhere in it.
func TestReplace_CopyOfSharedFile(t *testing.T) {
	user, local := at(t, "claude", clientfile.Servers, clientfile.User), at(t, "claude", clientfile.Servers, clientfile.Local)
	here, err := os.Getwd()
	must.OK(t, err)
	text := fmt.Sprintf(`{"mcpServers": {"a": {"command": "s"}}, "projects": {%q: {"mcpServers": {"b": {"command": "s"}}}}}`, here)
	must.OK(t, os.WriteFile(user.Path, []byte(text), 0o600))
	change := func(l clientfile.Location, how func(*clientfile.File) (clientfile.Edit, error)) string {
		t.Helper()
		f, err := clientfile.Read(l)
		must.OK(t, err)
		edit, err := how(f)
		must.OK(t, err)
		copied, err := f.Replace(edit.After)
		must.OK(t, err)
		return copied
	}
	put := func(f *clientfile.File) (clientfile.Edit, error) { return f.Install(belay) }
	take := func(f *clientfile.File) (clientfile.Edit, error) { return f.Uninstall() }
	for _, l := range []clientfile.Location{user, local} {
		if change(l, put) == "" {
			t.Error("no copy")
		}
	}
	if change(user, take) == "" {
		t.Error("the local scope is still behind belay")
	}
	if change(local, take) != "" {
		t.Error("the copy is left")
	}
	holds(t, user.Path, text, 0o600)
	if _, err := os.Lstat(user.Path + ".belay-backup"); err == nil {
		t.Error("the copy is left")
	}
}

// The table has every scope that the clients have.
func TestLocations(t *testing.T) {
	at(t, "claude", clientfile.Hooks, clientfile.User)
	got := ""
	for _, client := range profile.Clients() {
		for _, kind := range []clientfile.Kind{clientfile.Hooks, clientfile.Servers} {
			places, err := client.Locations(kind, "")
			must.OK(t, err)
			for _, l := range places {
				path, err := filepath.Abs(l.Path)
				must.OK(t, err)
				path, _ = filepath.Rel(filepath.Dir(os.Getenv("HOME")), path)
				got += fmt.Sprintln(kind, l.Client.Name, l.Scope, filepath.ToSlash(path), l.Repository != "")
			}
		}
	}
	settings := cmp.Or(map[string]string{"darwin": "Library/Application Support", "windows": "AppData/Roaming"}[runtime.GOOS], ".config")
	want := `hook claude user home-of-test/.claude/settings.json false
hook claude project work/.claude/settings.json true
hook claude local work/.claude/settings.local.json true
mcp claude user home-of-test/.claude.json false
mcp claude local home-of-test/.claude.json false
mcp claude project work/.mcp.json true
hook codex user home-of-test/.codex/hooks.json false
hook codex user home-of-test/.codex/config.toml false
hook codex project work/.codex/hooks.json true
hook codex project work/.codex/config.toml true
mcp codex user home-of-test/.codex/config.toml false
mcp codex project work/.codex/config.toml true
hook gemini user home-of-test/.gemini/settings.json false
hook gemini project work/.gemini/settings.json true
mcp gemini user home-of-test/.gemini/settings.json false
mcp gemini project work/.gemini/settings.json true
mcp opencode user home-of-test/.config/opencode/opencode.json false
mcp opencode user home-of-test/.config/opencode/opencode.jsonc false
mcp opencode project work/opencode.json true
mcp opencode project work/opencode.jsonc true
hook cursor user home-of-test/.cursor/hooks.json false
hook cursor project work/.cursor/hooks.json true
mcp cursor user home-of-test/.cursor/mcp.json false
mcp cursor project work/.cursor/mcp.json true
mcp vscode user home-of-test/` + settings + `/Code/User/mcp.json false
mcp vscode project work/.vscode/mcp.json true
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	t.Setenv("CLAUDE_CONFIG_DIR", "/elsewhere")
	if l := at(t, "claude", clientfile.Servers, clientfile.Local); l.Path != "/elsewhere/.claude.json" {
		t.Error(l.Path)
	}
}
