//go:build linux

package upgrade_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// install is a file of a client that belay can stand in.
type install struct{ kind, client, scope, file string }

func (i install) String() string { return i.kind + " " + i.client + " " + i.scope }

// installs are all that 52c78ef has.
var installs = []install{
	{"hook", "claude", "user", "home/.claude/settings.json"},
	{"hook", "claude", "project", "work/.claude/settings.json"},
	{"hook", "claude", "local", "work/.claude/settings.local.json"},
	{"hook", "codex", "user", "home/.codex/hooks.json"},
	{"hook", "codex", "project", "work/.codex/hooks.json"},
	{"mcp", "claude", "user", "home/.claude.json"},
	{"mcp", "claude", "local", "home/.claude.json"},
	{"mcp", "claude", "project", "work/.mcp.json"},
	{"mcp", "codex", "user", "home/.codex/config.toml"},
	{"mcp", "codex", "project", "work/.codex/config.toml"},
}

// clients is a user's home and project with the files of clients.
type clients struct {
	t   *testing.T
	dir string
}

// newClients copies the files of testdata/clients/NAME.
func newClients(t *testing.T, name string) *clients {
	t.Helper()
	c := &clients{t, t.TempDir()}
	c.tree(filepath.Join("testdata/clients", name), func(name, text string) {
		path := filepath.Join(c.dir, unstored(name))
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.OK(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, placeDir, c.dir)), 0o640))
	})
	// The belay that was installed: what calls one that is not there any more would be given another.
	old := filepath.Join(c.dir, "bin", "belay")
	must.OK(t, os.Mkdir(filepath.Dir(old), 0o700))
	must.OK(t, os.WriteFile(old, nil, 0o700))
	return c
}

// tree calls f for each file below a directory.
func (c *clients) tree(dir string, f func(name, text string)) {
	c.t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		text, err := os.ReadFile(path)
		f(name, string(text))
		return err
	})
	must.OK(c.t, err)
}

// belay runs a command of a version of belay as the user would.
func (c *clients) belay(path string, args ...string) string {
	c.t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Dir = filepath.Join(c.dir, "work")
	cmd.Env = []string{"HOME=" + filepath.Join(c.dir, "home"), "PATH=" + filepath.Dir(path) + ":" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "GORACE=atexit_sleep_ms=0"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Errorf("belay %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// read is a file of theirs.
func (c *clients) read(name string) string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.t.Error(err)
	}
	return string(text)
}
