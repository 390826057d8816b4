//go:build unix

package target_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/command/commandtest"
	"github.com/belay-run/belay/internal/test/must"
)

// entries are a file of hooks and one of servers, of the user and of a project.
var entries = map[string]struct{ user, project, text string }{
	"hook": {".claude/settings.json", ".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "notify"}]}]}}`},
	"mcp":  {".claude.json", ".mcp.json", `{"mcpServers": {"files": {"command": "npx", "args": ["-y"]}}}`},
}

// Hooks and servers call the same belay: in a file of the user's the one on the PATH, if that is this one, by its path, or else
// this one by its own; in a file that others share, by its name.
func TestClientFile_CommandThatIsWritten(t *testing.T) {
	for kind, e := range entries {
		t.Run(kind, func(t *testing.T) {
			dir := commandtest.Place(t)
			top := filepath.Dir(dir)
			self := filepath.Join(top, "opt", "belay")
			installs := func(where, file, scope, want string) {
				t.Helper()
				commandtest.Write(t, file, e.text, 0o600)
				commandtest.Belay(t, kind, "install", "--client", "claude", "--scope", scope).Ends(0).Says()
				if got := commandtest.Read(t, file); !strings.Contains(got, `"command": "`+want) {
					t.Errorf("%s: no %s in %s", where, want, got)
				}
				commandtest.Belay(t, kind, "status", "--client", "claude", "--scope", scope).Ends(0).Says()
				commandtest.Belay(t, kind, "uninstall", "--client", "claude", "--scope", scope).Ends(0).Says()
				if got := commandtest.Read(t, file); got != e.text {
					t.Errorf("%s: not undone: %s", where, got)
				}
			}
			user, project := commandtest.Home(filepath.FromSlash(e.user)), filepath.Join(dir, e.project)
			installs("not on the PATH", user, "user", self)
			installs("shared", project, "project", "belay")
			commandtest.Belay(t, kind, "install", "--client", "claude", "--scope", "project").Ends(0).Prints("now needs belay on the PATH", "Warning: belay is not on your own PATH.")
			commandtest.Belay(t, kind, "status", "--client", "claude", "--scope", "project").Ends(0).Prints("calls belay, which is not on the PATH. Put it there, for example with a link.\n")

			// As a package manager has it: a link on the PATH to where this version is.
			link := filepath.Join(top, "bin", "belay")
			must.OK(t, os.Symlink(self, link))
			installs("a link on the PATH", user, "user", link)
			os.Remove(link)
			commandtest.Write(t, link, "", 0o700)
			installs("another belay on the PATH", user, "user", self)

			blank := commandtest.Write(t, filepath.Join(top, "my tools", "belay"), "", 0o700)
			commandtest.SetExecutable(t, blank)
			want := blank
			if kind == "hook" {
				want = "'" + blank + "'"
			}
			installs("a path with blanks", user, "user", want)
		})
	}
}

// An executable that was moved is seen by status, and install repairs what calls the old one.
func TestClientFile_MovedExecutable(t *testing.T) {
	for kind, e := range entries {
		t.Run(kind, func(t *testing.T) {
			commandtest.Place(t)
			path := commandtest.Write(t, commandtest.Home(filepath.FromSlash(e.user)), e.text, 0o600)
			old, now := commandtest.Write(t, commandtest.Home("old", "belay"), "", 0o700), commandtest.Write(t, commandtest.Home("new dir", "belay"), "", 0o700)
			commandtest.SetExecutable(t, old)
			commandtest.Belay(t, kind, "install", "--client", "claude").Ends(0).Says()
			commandtest.SetExecutable(t, now)
			before := commandtest.Read(t, path)
			commandtest.Belay(t, kind, "install", "--client", "claude").Ends(0).Says()
			if commandtest.Read(t, path) != before {
				t.Errorf("the other one is still there: %s", commandtest.Read(t, path))
			}
			must.OK(t, os.Remove(old))
			commandtest.Belay(t, kind, "status", "--client", "claude", "--scope", "user").Ends(0).
				Prints("in the user scope (" + path + ") calls " + old + ", which no longer exists. To repair it: belay " + kind + " install --client claude --scope user\n")
			commandtest.Belay(t, kind, "status", "--client", "claude", "--scope", "user", "--json").Ends(0).Prints(`"missing":"` + old + `"`)
			commandtest.Belay(t, kind, "install", "--client", "claude", "--dry-run").Ends(0).Says().Prints("+++ ", "new dir")
			commandtest.Belay(t, kind, "install", "--client", "claude").Ends(0).Says().Prints("called a belay that no longer exists and now calls " + now + ".\n")
			if got := commandtest.Belay(t, kind, "status", "--client", "claude", "--scope", "user").Ends(0).Stdout; strings.Contains(got, "Warning") {
				t.Error(got)
			}
			commandtest.Belay(t, kind, "uninstall", "--client", "claude").Ends(0).Says()
			if commandtest.Read(t, path) != e.text {
				t.Errorf("not undone: %s", commandtest.Read(t, path))
			}
		})
	}
}

// A file with comments is edited, and its client is known not to read it.
func TestClientFile_Comments(t *testing.T) {
	for kind, e := range entries {
		t.Run(kind, func(t *testing.T) {
			commandtest.Place(t)
			path := commandtest.Write(t, commandtest.Home(filepath.FromSlash(e.user)), "// mine\n"+e.text, 0o600)
			commandtest.Belay(t, kind, "install", "--client", "claude").Ends(0).Says().Prints("Warning: " + path + " has a comment at line 1, column 1; claude does not read ")
			commandtest.Belay(t, kind, "uninstall", "--client", "claude").Ends(0).Says()
			if commandtest.Read(t, path) != "// mine\n"+e.text {
				t.Error(commandtest.Read(t, path))
			}
		})
	}
}

// A client that changes the file meanwhile keeps its edits, and belay is still put in front of the hooks. An edit between belay's last look at the file and its
// rename, some microseconds later, is lost; two in a test would be no accident.
func TestClientFile_ChangedMeanwhile(t *testing.T) {
	for kind, e := range entries {
		t.Run(kind, func(t *testing.T) {
			commandtest.Place(t)
			path := commandtest.Write(t, commandtest.Home(filepath.FromSlash(e.user)), strings.TrimSuffix(e.text, "}")+`, "edits": 0}`, 0o600)
			edits := func() (n int) {
				text := commandtest.Read(t, path)
				_, after, _ := strings.Cut(text, `"edits": `)
				if _, err := fmt.Sscanf(after, "%d}", &n); err != nil {
					t.Errorf("%v: %s", err, text)
				}
				return n
			}
			stop, stopped := make(chan struct{}), make(chan int, 1)
			go func() {
				made := 0
				defer func() { stopped <- made }()
				for {
					select {
					case <-stop:
						return
					case <-time.After(20 * time.Millisecond):
					}
					n := edits()
					changed := strings.Replace(commandtest.Read(t, path), fmt.Sprintf(`"edits": %d}`, n), fmt.Sprintf(`"edits": %d}`, n+1), 1)
					if err := errors.Join(os.WriteFile(path+".tmp", []byte(changed), 0o600), os.Rename(path+".tmp", path)); err != nil {
						t.Error(err)
						return
					}
					made++
				}
			}()
			for range 10 {
				commandtest.Belay(t, kind, "install", "--client", "claude").Ends(0)
				commandtest.Belay(t, kind, "uninstall", "--client", "claude").Ends(0)
			}
			close(stop)
			if made, kept := <-stopped, edits(); made == 0 || kept < made-1 {
				t.Errorf("%d edits of %d are there", kept, made)
			}
		})
	}
}
