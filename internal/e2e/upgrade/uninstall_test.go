//go:build linux

package upgrade_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// before is what a file of a client was before 52c78ef stood in it.
func (c *clients) before(name string) string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/clients/before", stored(name)))
	must.OK(c.t, err)
	return strings.ReplaceAll(string(text), placeDir, c.dir)
}

// edit is one command of the present version.
func (c *clients) edit(what string, i install) string {
	c.t.Helper()
	return c.belay(stage.Bin("belay"), i.kind, what, "--client", i.client, "--scope", i.scope)
}

// undone checks that nothing is left of what 52c78ef has installed.
func (c *clients) undone() {
	c.t.Helper()
	for _, i := range installs {
		path := filepath.Join(c.dir, i.file)
		if got := c.read(i.file); got != c.before(i.file) {
			c.t.Errorf("%v: %s is\n%s\nand was\n%s", i, i.file, got, c.before(i.file))
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
			c.t.Errorf("%v: %v, %v", i, info, err)
		}
		if _, err := os.Lstat(path + ".belay-backup"); err == nil {
			c.t.Errorf("%v: the copy is left", i)
		}
	}
}

// What 52c78ef has installed is seen as installed, and uninstalled to the byte, in any order.
func TestUninstall(t *testing.T) {
	for name, order := range map[string]func(n int) int{
		"Forth": func(n int) int { return n },
		"Back":  func(n int) int { return len(installs) - 1 - n },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClients(t, "after")
			for _, i := range installs {
				if c.read(i.file) == c.before(i.file) {
					t.Fatalf("%v: nothing is installed", i)
				}
				if out := c.edit("status", i); !strings.Contains(out, map[string]string{"hook": " installed ", "mcp": " behind belay"}[i.kind]) {
					t.Errorf("%v: status says\n%s", i, out)
				}
			}
			for n := range installs {
				c.edit("uninstall", installs[order(n)])
			}
			c.undone()
		})
	}
}

// To install again over what 52c78ef has installed changes nothing, and can be undone as well.
func TestUninstall_InstalledAgain(t *testing.T) {
	t.Parallel()
	c := newClients(t, "after")
	for _, i := range installs {
		was := c.read(i.file)
		c.edit("install", i)
		if now := c.read(i.file); now != was {
			t.Errorf("%v: %s has become\n%s", i, i.file, now)
		}
	}
	for _, i := range installs {
		c.edit("uninstall", i)
	}
	c.undone()
}

// What the user has changed since stays.
func TestUninstall_ChangedSince(t *testing.T) {
	t.Parallel()
	c := newClients(t, "after")
	since := map[string][2]string{
		"home/.claude/settings.json": {`"unknown": [1, 2.50, null]`, `"unknown": [3], "model": "opus"`},
		"home/.claude.json":          {`"numStartups": 7`, `"numStartups": 8`},
		"home/.codex/config.toml":    {"# mine\n", "# mine, since yesterday\n[mcp_servers.new]\ncommand = \"new\"\n\n[other]\n"},
	}
	for name, text := range since {
		path := filepath.Join(c.dir, name)
		now := strings.Replace(c.read(name), text[0], text[1], 1)
		must.OK(t, os.WriteFile(path, []byte(now), 0o640))
	}
	for _, i := range installs {
		c.edit("uninstall", i)
	}
	for name, text := range since {
		if got, want := c.read(name), strings.Replace(c.before(name), text[0], text[1], 1); got != want {
			t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
		}
	}
}
