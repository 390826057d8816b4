//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/test/must"
)

const (
	hooksJSON = `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./guard.sh | tee log"}]}]}}` + "\n"
	mcpJSON   = `{"mcpServers": {"fs": {"command": "npx", "args": ["-y", "fs"]}}}` + "\n"
	mcpTOML   = "# mine\n[mcp_servers.fs]\ncommand = \"npx\"\nargs = [\"-y\", \"fs\"]\n"
)

// installer edits one file of a client's.
type installer struct {
	kind, client, scope string // kind is hook or mcp
	name                string // below the repository, or below the user's home
	text                string
}

func (i installer) String() string { return i.kind + "-" + i.client + "-" + i.scope }

// inRepository edit files that came with a repository, inHome those of the user.
var (
	inRepository = []installer{
		{"hook", "claude", "project", ".claude/settings.json", hooksJSON},
		{"hook", "claude", "local", ".claude/settings.local.json", hooksJSON},
		{"hook", "codex", "project", ".codex/hooks.json", hooksJSON},
		{"mcp", "claude", "project", ".mcp.json", mcpJSON},
		{"mcp", "codex", "project", ".codex/config.toml", mcpTOML},
	}
	inHome = []installer{
		{"hook", "claude", "user", ".claude/settings.json", hooksJSON},
		{"hook", "codex", "user", ".codex/hooks.json", hooksJSON},
		{"mcp", "claude", "user", ".claude.json", mcpJSON},
		{"mcp", "codex", "user", ".codex/config.toml", mcpTOML},
	}
)

// site is a machine with a cloned repository, the user's home and a directory of the user's that is elsewhere.
type site struct {
	*run
	installer
	path    string // of the file that is edited
	strange bool   // it belongs to another user
}

func newSite(t *testing.T, i installer) *site {
	t.Helper()
	s := &site{run: newRun(t, 0), installer: i}
	base := "repo"
	if i.scope == "user" {
		base = "home"
	}
	s.path = filepath.Join(s.dir, base, i.name)
	s.write("elsewhere/mine", "what the user has written\n")
	must.OK(t, os.MkdirAll(filepath.Join(s.dir, "repo"), 0o700))
	return s
}

// at is the path of something on the machine.
func (s *site) at(name string) string { return filepath.Join(s.dir, name) }

func (s *site) write(name, text string) {
	s.t.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = s.at(name)
	}
	os.MkdirAll(filepath.Dir(path), 0o700)
	must.OK(s.t, os.WriteFile(path, []byte(text), 0o640))
}

// link makes a symbolic link, in a directory that is made too.
func (s *site) link(target, path string) {
	s.t.Helper()
	os.MkdirAll(filepath.Dir(path), 0o700)
	must.OK(s.t, os.Symlink(target, path))
}

func (s *site) pipe(path string) {
	s.t.Helper()
	os.MkdirAll(filepath.Dir(path), 0o700)
	must.OK(s.t, unix.Mkfifo(path, 0o600))
}

// belay runs belay in the repository, to its end.
func (s *site) belay(args ...string) (code int, stdout, stderr string) {
	s.t.Helper()
	cmd := s.command("belay", args...)
	cmd.Dir = s.at("repo")
	cmd.Env = append(cmd.Env, "PWD="+cmd.Dir)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	must.OK(s.t, cmd.Start())
	late := time.AfterFunc(testTimeout, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	if !late.Stop() {
		s.t.Errorf("belay %q did not end within %v", args, testTimeout)
	}
	return shellCode(err), out.String(), errs.String()
}

// does runs the installer, which must succeed.
func (s *site) does(what string, flags ...string) {
	s.t.Helper()
	if code, stdout, stderr := s.belay(s.args(what, flags...)...); code != 0 || stderr != "" {
		s.t.Errorf("%s: exit code %d\n%s%s", what, code, stdout, stderr)
	}
}

func (s *site) args(what string, flags ...string) []string {
	return append([]string{s.kind, what, "--client", s.client, "--scope", s.scope}, flags...)
}

// holds checks what a regular file with this one name holds.
func (s *site) holds(path, want string) {
	s.t.Helper()
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Sys().(*syscall.Stat_t).Nlink != 1 {
		s.t.Errorf("%s: %v, %v", path, info, err)
		return
	}
	if text, _ := os.ReadFile(path); string(text) != want {
		s.t.Errorf("%s holds\n%s\nwant\n%s", path, text, want)
	}
}

// wrapped checks that belay stands in the file.
func (s *site) wrapped(path string) {
	s.t.Helper()
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "--name") {
		s.t.Errorf("belay does not stand in %s: %v\n%s", path, err, text)
	}
}

// tree says what there is below a directory, to the byte; not even a time may change unseen.
func (s *site) tree(names ...string) string {
	s.t.Helper()
	var b strings.Builder
	for _, name := range names {
		err := filepath.WalkDir(s.at(name), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s %v", strings.TrimPrefix(path, s.dir), info.Mode())
			switch {
			case info.Mode().IsRegular():
				text, _ := os.ReadFile(path)
				fmt.Fprintf(&b, " %v %q", info.ModTime(), text)
			case info.Mode()&fs.ModeSymlink != 0:
				target, _ := os.Readlink(path)
				fmt.Fprintf(&b, " -> %s", target)
			}
			fmt.Fprintln(&b)
			return nil
		})
		must.OK(s.t, err)
	}
	return b.String()
}

func (s *site) unchanged(when, before string, names ...string) {
	s.t.Helper()
	if after := s.tree(names...); after != before {
		s.t.Errorf("%s has changed\n%s\nto\n%s", when, before, after)
	}
}

// copies are what may stand in the place of the copy that an installer makes.
var copies = map[string]func(s *site, path string){
	"Link": func(s *site, path string) { s.link(s.at("elsewhere/mine"), path) },
	"RelativeLink": func(s *site, path string) {
		rel, _ := filepath.Rel(filepath.Dir(path), s.at("elsewhere/mine"))
		s.link(rel, path)
	},
	"LinkToNew":  func(s *site, path string) { s.link(s.at("elsewhere/new"), path) },
	"LinkToPipe": func(s *site, path string) { s.pipe(s.at("elsewhere/pipe")); s.link(s.at("elsewhere/pipe"), path) },
	"LinkToSame": func(s *site, path string) { s.write("elsewhere/same", s.text); s.link(s.at("elsewhere/same"), path) },
	"Pipe":       func(s *site, path string) { s.pipe(path) },
	"HardLink": func(s *site, path string) {
		must.OK(s.t, os.Link(s.at("elsewhere/mine"), path))
	},
}

// A repository that is cloned may have anything in the place of the copy. It is not written through: a link there once had
// `belay hook install --scope project` overwrite the file of the user it led to. It stays, and the copy has another name.
func TestInstall_CopyLeadsElsewhere(t *testing.T) {
	for _, i := range append(inRepository, inHome...) {
		for name, copy := range copies {
			t.Run(i.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, i)
				s.write(s.path, s.text)
				copy(s, s.path+".belay-backup")
				planted, outside := s.mode(s.path+".belay-backup"), s.tree("elsewhere")
				s.does("install")
				s.unchanged("install: elsewhere", outside, "elsewhere")
				s.wrapped(s.path)
				s.holds(s.path+".belay-backup-2", s.text)
				if now := s.mode(s.path + ".belay-backup"); now != planted {
					t.Errorf("%v has become %v", planted, now)
				}

				// The same in the place of the copy before it is undone.
				os.Remove(s.path + ".belay-backup-2")
				os.RemoveAll(s.at("elsewhere"))
				s.write("elsewhere/mine", "what the user has written\n")
				copy(s, s.path+".belay-backup-2")
				outside = s.tree("elsewhere")
				s.does("uninstall")
				s.unchanged("uninstall: elsewhere", outside, "elsewhere")
				s.holds(s.path, s.text)
				if left, _ := filepath.Glob(filepath.Join(filepath.Dir(s.path), "."+filepath.Base(s.path)+".*")); len(left) > 0 {
					t.Errorf("left: %q", left)
				}
				if now := s.mode(s.path + ".belay-backup"); now != planted || s.mode(s.path+".belay-backup-2") != 0 {
					t.Errorf("%v has become %v, or the copy is left", planted, now)
				}
			})
		}
	}
}

// A file of the user's with the name of the copy is neither replaced nor removed.
func TestInstall_CopyIsTaken(t *testing.T) {
	for _, i := range append(inRepository, inHome...) {
		t.Run(i.String(), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, i)
			s.write(s.path, s.text)
			s.write(s.path+".belay-backup", "what the user has written\n")
			s.does("install")
			s.holds(s.path+".belay-backup-2", s.text)
			s.does("uninstall")
			s.holds(s.path, s.text)
			s.holds(s.path+".belay-backup", "what the user has written\n")
			if s.mode(s.path+".belay-backup-2") != 0 {
				t.Error("the copy is left")
			}
			// A copy that a killed install has left is used.
			s.write(s.path+".belay-backup", s.text)
			s.does("install")
			s.does("uninstall")
			if s.mode(s.path+".belay-backup") != 0 {
				t.Error("the copy is left")
			}
		})
	}
}

// mode is what there is at a path; 0 if nothing is.
func (s *site) mode(path string) fs.FileMode {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return info.Mode()
}

// Where no copy can be made, nothing is changed.
func TestInstall_CopyIsDirectory(t *testing.T) {
	for _, i := range append(inRepository, inHome...) {
		t.Run(i.String(), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, i)
			s.write(s.path, s.text)
			s.write(s.path+".belay-backup/mine", "what the user has written\n")
			before := s.tree("repo", "home")
			code, stdout, stderr := s.belay(s.args("install")...)
			if code != 125 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "is a directory") {
				t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
			}
			s.unchanged("it", before, "repo", "home")
		})
	}
}

// leads are the ways in which a repository's file can be none of the repository.
var leads = map[string]struct {
	make func(s *site)
	says string
}{
	"LinkToUsers": {func(s *site) { s.write("home/settings", s.text); s.link(s.at("home/settings"), s.path) }, "is a symbolic link, and links in a repository are not followed"},
	"RelativeLink": {func(s *site) {
		s.write("elsewhere/settings", s.text)
		rel, _ := filepath.Rel(filepath.Dir(s.path), s.at("elsewhere/settings"))
		s.link(rel, s.path)
	}, "is a symbolic link, and links in a repository are not followed"},
	"LinkWithin":  {func(s *site) { s.write("repo/settings", s.text); s.link(s.at("repo/settings"), s.path) }, "is a symbolic link, and links in a repository are not followed"},
	"LinkBeside":  {func(s *site) { s.write(s.path+".real", s.text); s.link(filepath.Base(s.path)+".real", s.path) }, "is a symbolic link, and links in a repository are not followed"},
	"LinkToPipe":  {func(s *site) { s.pipe(s.at("elsewhere/pipe")); s.link(s.at("elsewhere/pipe"), s.path) }, "is a symbolic link, and links in a repository are not followed"},
	"LinkNowhere": {func(s *site) { s.link(s.at("elsewhere/none"), s.path) }, "is a symbolic link, and links in a repository are not followed"},
	"Pipe":        {func(s *site) { s.pipe(s.path) }, "is a named pipe"},
	"Directory": {func(s *site) {
		s.write("elsewhere/d/"+filepath.Base(s.path), s.text)
		s.link(s.at("elsewhere/d"), filepath.Dir(s.path))
	}, "is a symbolic link, and links in a repository are not followed"},
	"DirectoryOfUser": {func(s *site) {
		s.write("home/"+s.name, s.text)
		s.link(filepath.Dir(s.at("home/"+s.name)), filepath.Dir(s.path))
	}, "is a symbolic link, and links in a repository are not followed"},
	"DirectoryWithin": {func(s *site) { s.write("repo/d/"+filepath.Base(s.path), s.text); s.link("d", filepath.Dir(s.path)) }, "is a symbolic link, and links in a repository are not followed"},
}

// A repository's settings that are a link, or are reached through one, are not edited: that a project's file leads to the
// user's own once had the user's edited.
func TestInstall_RepositoryLeadsElsewhere(t *testing.T) {
	for _, i := range inRepository {
		for name, lead := range leads {
			if strings.HasPrefix(name, "Directory") && filepath.Dir(i.name) == "." {
				continue // it has no directory of its own
			}
			t.Run(i.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, i)
				lead.make(s)
				before := s.tree("repo", "home", "elsewhere")
				for _, args := range [][]string{s.args("install"), s.args("install", "--dry-run"), s.args("uninstall")} {
					code, stdout, stderr := s.belay(args...)
					if code != 125 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, lead.says) {
						t.Errorf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
					}
					s.unchanged(fmt.Sprintf("%q: it", args), before, "repo", "home", "elsewhere")
				}
			})
		}
	}
}

// What has come about through a link cannot be undone through it either.
func TestUninstall_RepositoryLeadsElsewhere(t *testing.T) {
	for _, i := range inRepository {
		t.Run(i.String(), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, i)
			s.write(s.path, s.text)
			s.does("install")
			must.OK(t, os.Rename(s.path, s.at("home/settings")))
			s.link(s.at("home/settings"), s.path)
			before := s.tree("repo", "home")
			code, stdout, stderr := s.belay(s.args("uninstall")...)
			if code != 125 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "is a symbolic link, and links in a repository are not followed") {
				t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
			}
			s.unchanged("it", before, "repo", "home")
		})
	}
}

// dotfiles are the ways in which people keep their settings elsewhere.
var dotfiles = map[string]func(s *site) (real string){
	"Link": func(s *site) string {
		s.write("elsewhere/dot/settings", s.text)
		s.link(s.at("elsewhere/dot/settings"), s.path)
		return s.at("elsewhere/dot/settings")
	},
	"RelativeLink": func(s *site) string {
		s.write("elsewhere/dot/settings", s.text)
		rel, _ := filepath.Rel(filepath.Dir(s.path), s.at("elsewhere/dot/settings"))
		s.link(rel, s.path)
		return s.at("elsewhere/dot/settings")
	},
	"TwoLinks": func(s *site) string {
		s.write("elsewhere/dot/settings", s.text)
		s.link("dot/settings", s.at("elsewhere/first"))
		s.link(s.at("elsewhere/first"), s.path)
		return s.at("elsewhere/dot/settings")
	},
	"Home": func(s *site) string {
		must.OK(s.t, os.Rename(s.at("home"), s.at("elsewhere/home")))
		s.link("elsewhere/home", s.at("home"))
		s.write(s.path, s.text)
		return s.at("elsewhere/home/" + s.name)
	},
	"Directory": func(s *site) string {
		if dir := filepath.Dir(s.path); dir != s.at("home") {
			s.link(s.at("elsewhere"), dir)
		} else {
			s.link(s.at("elsewhere"), s.path+".d")
			s.link(s.path+".d/"+filepath.Base(s.path), s.path)
		}
		real := s.at("elsewhere/" + filepath.Base(s.path))
		s.write(real, s.text)
		return real
	},
}

// The user's own settings may be links: they are followed, and stay.
func TestInstall_UsersLinksAreKept(t *testing.T) {
	for _, i := range inHome {
		for name, dot := range dotfiles {
			t.Run(i.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, i)
				real := dot(s)
				links := s.links("home", "elsewhere")
				s.does("install")
				s.wrapped(real)
				s.holds(real+".belay-backup", s.text)
				if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
					t.Errorf("%v, %v", info, err)
				}
				s.does("uninstall")
				s.holds(real, s.text)
				if now := s.links("home", "elsewhere"); now != links {
					t.Errorf("links were\n%s\nand are\n%s", links, now)
				}
			})
		}
	}
}

// links are the symbolic links below some directories.
func (s *site) links(names ...string) (found string) {
	s.t.Helper()
	for line := range strings.Lines(s.tree(names...)) {
		if strings.Contains(line, " -> ") {
			found += line
		}
	}
	return found
}

// A pipe in the place of settings is not waited for, whatever is to be done with them.
func TestInstall_Pipe(t *testing.T) {
	for _, i := range append(inHome, inRepository...) {
		t.Run(i.String(), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, i)
			s.pipe(s.path)
			for _, what := range []string{"install", "uninstall", "status"} {
				code, stdout, stderr := s.belay(s.args(what)...)
				if code != 125 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "is a named pipe") {
					t.Errorf("%s: exit code %d\n%s%s", what, code, stdout, stderr)
				}
			}
		})
	}
}

// Nor is one beside codex's hooks, where there may be more of them to count.
func TestInstall_PipeBesideHooks(t *testing.T) {
	for _, i := range append(inHome, inRepository...) {
		if i.kind+i.client != "hookcodex" {
			continue
		}
		for _, name := range []string{"Pipe", "LinkToPipe"} {
			t.Run(i.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, i)
				s.write(s.path, s.text)
				copies[name](s, filepath.Join(filepath.Dir(s.path), "config.toml"))
				code, stdout, stderr := s.belay(s.args("install")...)
				if code != 125 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "is a named pipe; its hooks could not be counted") {
					t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
				}
				s.wrapped(s.path)
				s.does("uninstall")
				s.holds(s.path, s.text)
			})
		}
	}
}

// Whatever leads to a repository's settings, they can be looked at: the client follows the link too.
func TestStatus_RepositoryLeadsElsewhere(t *testing.T) {
	for _, i := range inRepository {
		for _, name := range []string{"LinkToUsers", "RelativeLink", "LinkWithin"} {
			t.Run(i.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, i)
				leads[name].make(s)
				code, stdout, stderr := s.belay(s.args("status")...)
				if code != 0 || stderr != "" || !strings.Contains(stdout, "guard.sh") && !strings.Contains(stdout, "fs") {
					t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
				}
			})
		}
	}
}

// earlier is what the versions before this rule have made of the files, with the copy beside it.
var earlier = map[string]string{
	hooksJSON: `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "belay hook --name guard.sh --timeout 599s -- \"$0\" -c './guard.sh | tee log'"}]}]}}` + "\n",
	mcpJSON:   `{"mcpServers": {"fs": {"command": "belay", "args": ["mcp", "--name", "fs", "--", "npx", "-y", "fs"]}}}` + "\n",
	mcpTOML:   "# mine\n[mcp_servers.fs]\ncommand = \"belay\"\nargs = [\"mcp\", \"--name\", \"fs\", \"--\", \"npx\", \"-y\", \"fs\"]\n",
}

func TestUninstall_OfEarlierInstall(t *testing.T) {
	for _, i := range append(inRepository, inHome...) {
		t.Run(i.String(), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, i)
			s.write(s.path, earlier[s.text])
			s.write(s.path+".belay-backup", s.text)
			s.does("uninstall")
			s.holds(s.path, s.text)
			if _, err := os.Lstat(s.path + ".belay-backup"); err == nil {
				t.Error("the copy is left")
			}
		})
	}
}
