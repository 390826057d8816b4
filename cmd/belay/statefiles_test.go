//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/test/must"
)

// userText is what a link leads to: a file of the user's own.
const userText = "what the user has written\n"

// foreignThings are what may be in place of a file of Belay's own. other is a file of the user's, dir a directory.
var foreignThings = map[string]func(path, other, dir string) error{
	"pipe":       func(path, _, _ string) error { return unix.Mkfifo(path, 0o600) },
	"directory":  func(path, _, _ string) error { return os.MkdirAll(filepath.Join(path, "sub"), 0o700) },
	"link":       func(path, other, _ string) error { return os.Symlink(other, path) },
	"link to":    func(path, _, dir string) error { return os.Symlink(dir, path) },
	"hard link":  func(path, other, _ string) error { return os.Link(other, path) },
	"empty":      func(path, _, _ string) error { return os.WriteFile(path, nil, 0o600) },
	"garbage":    func(path, _, _ string) error { return os.WriteFile(path, []byte("\x00{\xff not ours\n"), 0o600) },
	"huge":       huge,
	"unreadable": unreadable,
}

// huge makes a file that takes no room on the disk, and a minute to be read.
func huge(path, _, _ string) error {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	return os.Truncate(path, 64<<30)
}

// unreadable makes a file that this user cannot use: root can read all, but does not trust that of another user.
func unreadable(path, _, _ string) error {
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		return os.Chown(path, 12345, -1)
	}
	return os.Chmod(path, 0)
}

// stateTest runs commands on state directories of their own.
type stateTest struct{ *run }

// do runs a command to its end.
func (s stateTest) do(state string, args ...string) (code int, stdout, stderr string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), testTimeout)
	defer cancel()
	was := s.command("belay-plain", args...)
	cmd := exec.CommandContext(ctx, was.Path, args...)
	cmd.Dir, cmd.Env = was.Dir, append(was.Env, "BELAY_STATE_DIR="+state)
	cmd.Stdin = strings.NewReader("{}")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		s.t.Errorf("belay %q did not end within %v", args, testTimeout)
	}
	return shellCode(err), out.String(), errs.String()
}

// playAgent has claude answer, and its costs count towards a budget.
func (s stateTest) playAgent() {
	s.t.Helper()
	s.play("claude", "begin; result 0.1 1 1 1 1")
	config := filepath.Join(s.dir, "config", "belay")
	err := os.MkdirAll(config, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(config, "config.toml"), []byte("[budget.team]\nlimit = 100\nwindow = \"month\"\n"), 0o600)
	}
	must.OK(s.t, err)
}

// The commands whose files are put to the test. Each uses as much of the state directory as it can.
var stateCommands = map[string][]string{
	"run": {"run", "--gate", "api", "--max-parallel", "2", "--scope", "one", "--retry-on", "refused", "--max-retries", "1", "--base-delay", "0", "--",
		"sh", "-c", "echo out; echo connection refused >&2; exit 3"},
	"agent": {"run", "--gate", "off", "--budget", "team", "--max-cost", "5", "--log-dir", "none", "--max-retries", "0", "--", "claude", "-p", "hello"},
	"hook":  {"hook", "--", "sh", "-c", "exit 3"},
}

// passing are names that a command uses and gives up, so that they are not found afterwards.
var passing = map[string][]string{
	"run": {"runs/b00t.77.1.01a1dfb1-a18b-78b2-9007-78e02857aef0", "runs/b00t.77.1.01a1dfb1-a18b-78b2-9007-78e02857aef0.new",
		"gates/api.json.new", "scopes/one.0.slot", "observability.sqlite"},
	"agent": {"budgets/team.json.new"},
	"hook":  nil,
}

// silent reports whether something else at that name is no trouble, because nothing is lost by it.
func silent(name, thing string) bool {
	// States are read, and one that cannot be is lost. All other files are only written, locked or replaced.
	isState := (strings.HasPrefix(name, "gates/") || strings.HasPrefix(name, "alerts/") || strings.HasPrefix(name, "budgets/")) && strings.HasSuffix(name, ".json")
	switch {
	case name == ".swept", strings.HasPrefix(name, "runs/"), strings.HasPrefix(name, "observability"):
		return true
	case strings.HasPrefix(name, "sessions/"), strings.HasSuffix(name, ".new"):
		return thing != "directory" // which cannot be replaced
	case thing == "empty", thing == "garbage", thing == "huge":
		return !isState
	}
	return false
}

// Whatever is in place of a file of the state directory, no command hangs or fails that would have worked, the trouble is
// said once, and what a link leads to is not touched.
func TestStateFiles_OtherThings(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, kind := range slices.Sorted(maps.Keys(stateCommands)) {
		args := stateCommands[kind]
		s := stateTest{newRun(t, 0)}
		s.playAgent()
		healthy := filepath.Join(s.dir, "healthy")
		wantCode, wantOut, _ := s.do(healthy, args...)
		names := passing[kind]
		filepath.WalkDir(healthy, func(path string, d fs.DirEntry, err error) error {
			name, _ := filepath.Rel(healthy, path)
			ofAgents := slices.Contains([]string{"sessions", "scopes", "budgets", "costs"}, strings.Split(name, "/")[0]) // the others are those of every run
			if err == nil && name != "." && (kind != "agent" || ofAgents) {
				names = append(names, name)
			}
			return err
		})
		for _, name := range names {
			for _, thing := range slices.Sorted(maps.Keys(foreignThings)) {
				info, err := os.Stat(filepath.Join(healthy, name))
				isDir := err == nil && info.IsDir()
				if isDir && (thing == "directory" || thing == "hard link" || thing == "garbage" || thing == "huge" || thing == "unreadable") {
					continue // which is right, or is covered by another
				}
				tried++
				t.Run(fmt.Sprintf("%s/%s/%s", kind, strings.ReplaceAll(name, "/", ":"), thing), func(t *testing.T) {
					s := stateTest{newRun(t, 0)}
					if kind == "agent" {
						s.playAgent()
					}
					dir := filepath.Join(s.dir, "elsewhere")
					state, other := filepath.Join(s.dir, "state"), filepath.Join(dir, "mine")
					path := filepath.Join(state, name)
					for _, d := range []string{dir, state, filepath.Dir(path)} {
						must.OK(t, os.MkdirAll(d, 0o700))
					}
					must.OK(t, os.WriteFile(other, []byte(userText), 0o600))
					must.OK(t, foreignThings[thing](path, other, dir))
					before := look(t, dir)
					code, stdout, stderr := s.do(state, args...)
					if code != wantCode || stdout != wantOut {
						t.Errorf("exit code %d and %q, want %d and %q\n%s", code, stdout, wantCode, wantOut, stderr)
					}
					said := 0
					for line := range strings.Lines(stderr) {
						if strings.Contains(line, path) {
							said++
						}
					}
					wrong := said != 1
					if isDir && thing == "empty" {
						wrong = said == 0
					} else if silent(name, thing) {
						wrong = said > 1
					}
					if wrong {
						t.Errorf("said %d times:\n%s", said, stderr)
					}
					if after := look(t, dir); after != before {
						t.Errorf("where the link leads, there was\n%sand now there is\n%s", before, after)
					}
				})
			}
		}
	}
	t.Logf("%d files of the state directory replaced by something else", tried)
}

// look describes all that is in a directory.
func look(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var text []byte
		if info.Mode().IsRegular() {
			text, err = os.ReadFile(path)
		}
		fmt.Fprintf(&b, "%s %v %v %q\n", path, info.Mode(), info.ModTime(), text)
		return err
	})
	must.OK(t, err)
	return b.String()
}

// What shows the state directory does not hang either, and names what is in the way.
func TestStateFiles_Shown(t *testing.T) {
	t.Parallel()
	for command, names := range map[string][]string{
		"ps": {"runs"}, "gates": {"gates"}, "log": {"observability.sqlite", "log.jsonl"}, "doctor": {"observability.sqlite", "log.jsonl", "runs"},
	} {
		for _, name := range names {
			for _, thing := range []string{"pipe", "directory", "link"} {
				if thing == "directory" && (name == "runs" || name == "gates") {
					continue // which is right
				}
				t.Run(command+"/"+name+"/"+thing, func(t *testing.T) {
					s := stateTest{newRun(t, 0)}
					state, other := filepath.Join(s.dir, "state"), filepath.Join(s.dir, "mine")
					must.OK(t, os.Mkdir(state, 0o700))
					must.OK(t, os.WriteFile(other, []byte(userText), 0o600))
					must.OK(t, foreignThings[thing](filepath.Join(state, name), other, s.dir))
					code, stdout, stderr := s.do(state, command)
					if code > 125 || !strings.Contains(stdout+stderr, name) || strings.Contains(stderr, "panic") {
						t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
					}
					if data, _ := os.ReadFile(other); string(data) != userText {
						t.Errorf("where the link leads: %q", data)
					}
				})
			}
		}
	}
}
