//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/test/must"
)

// stranger is a user that is neither root nor the one who runs the tests.
const stranger = 54321

// projectAttack is what a repository, or a user who shares a directory, may do with a project's file.
type projectAttack struct {
	make func(s *site, path string)
	says string // of stderr; empty if the file takes effect, or is not looked at
	root bool   // needs root
}

// unlessRoot is a text for users who may not do everything.
func unlessRoot(text string) string {
	if os.Geteuid() == 0 {
		return ""
	}
	return text
}

// text is a file with this content.
func text(content string) func(*site, string) {
	return func(s *site, path string) { s.write(path, content) }
}

// chown gives files away.
func (s *site) chown(paths ...string) {
	s.t.Helper()
	for _, path := range paths {
		must.OK(s.t, os.Lchown(path, stranger, stranger))
	}
}

var projectAttacks = map[string]projectAttack{
	// What stands in its place. Belay ran out of memory, took the command's input, or hung.
	"LinkToZero":       {make: func(s *site, path string) { s.link("/dev/zero", path) }, says: "is ignored: it is a symbolic link"},
	"LinkToStdin":      {make: func(s *site, path string) { s.link("/dev/stdin", path) }, says: "is ignored: it is a symbolic link"},
	"LinkToFD":         {make: func(s *site, path string) { s.link("/proc/self/fd/0", path) }, says: "is ignored: it is a symbolic link"},
	"LinkToFile":       {make: func(s *site, path string) { s.write("repo/other", "timeout = 9"); s.link("other", path) }, says: "is ignored: it is a symbolic link"},
	"LinkToUsers":      {make: func(s *site, path string) { s.link(s.at("elsewhere/mine"), path) }, says: "is ignored: it is a symbolic link"},
	"LinkNowhere":      {make: func(s *site, path string) { s.link("none", path) }, says: "is ignored: it is a symbolic link"},
	"LinkToItself":     {make: func(s *site, path string) { s.link(filepath.Base(path), path) }, says: "is ignored: it is a symbolic link"},
	"Pipe":             {make: func(s *site, path string) { s.pipe(path) }, says: "is ignored: it is a named pipe"},
	"Directory":        {make: func(s *site, path string) { s.write(path+"/x", "") }, says: "is ignored: it is a directory"},
	"Huge":             {make: text("# " + strings.Repeat("x", 1<<20)), says: "is ignored: it is larger than 64 KiB"},
	"Sparse":           {make: func(s *site, path string) { s.write(path, ""); os.Truncate(path, 1<<40) }, says: "is ignored: it is larger than 64 KiB"},
	"Socket":           {make: func(s *site, path string) { s.socket(path) }, says: "is ignored: it is a socket"},
	"Unreadable":       {make: func(s *site, path string) { s.write(path, "timeout = 9"); os.Chmod(path, 0) }, says: unlessRoot("permission denied")},
	"Device":           {make: func(s *site, path string) { s.device(path, 1, 5) }, says: "is ignored: it is a device", root: true},
	"DeepNesting":      {make: text("x = " + strings.Repeat("[", 30_000)), says: "is ignored:"},
	"InvalidUTF8":      {make: text("\xff\xfe\x00"), says: "is ignored:"},
	"ThousandsOfKeys":  {make: text(manyKeys()), says: "is ignored: unknown key (and 2999 more: belay config show)"},
	"EscapesInKey":     {make: text("\"\\u001b]0;owned\\u0007\" = 1"), says: "is ignored: unknown key"},
	"EscapesInText":    {make: text("timeout = \"\x1b[2J"), says: "is ignored:"},
	"EscapesInProfile": {make: text("[profile.\"\\u009b2J\"]\ntimeout = 1"), says: "there is no profile"},

	// Whose it is.
	"OfStranger": {make: func(s *site, path string) { s.write(path, "timeout = 9"); s.chown(path) }, says: "is ignored: it belongs to ", root: true},
	"OfStrangersParent": {make: func(s *site, path string) {
		os.RemoveAll(s.at("repo/.git"))
		s.write(s.at("repo/../.belay.toml"), "timeout = \"1ns\"")
		s.chown(s.dir, s.at(".belay.toml"))
	}, root: true},
	"OfStrangersRepositoryAround": {make: func(s *site, path string) { // in a directory that all may write to, as /tmp
		os.RemoveAll(s.at("repo/.git"))
		s.write(s.at(".git"), "gitdir: x")
		s.write(s.at(".belay.toml"), "timeout = \"1ns\"")
		s.chown(s.at(".git"), s.at(".belay.toml"))
	}, says: "is ignored: it belongs to ", root: true},
	"AboveRepository": {make: func(s *site, path string) { s.write(s.at(".belay.toml"), "timeout = \"1ns\"") }, says: "is ignored: it is above the root of the repository"},

	// What it says, of which config.TestProject_OnlyBounds has more. An unknown key stopped the command, max_retries had it repeated.
	"MaxRetries":   {make: text("max_retries = 5"), says: ":1: max_retries is ignored: a project's file cannot turn on retries"},
	"BudgetRules":  {make: text("[budget.x]\nlimit = 0.01"), says: "budget is ignored: a project's file may not set budgets"},
	"Prices":       {make: text("[prices.x]\ninput = 0"), says: "prices is ignored: a project's file may not set prices"},
	"AlertCommand": {make: text("[alert]\nfailures = 1\ncommand = [\"touch\", \"owned\"]"), says: ":1: alert is ignored: a project's file may not set alerts"},
	"LogDir":       {make: text("log_dir = \"/\""), says: ":1: log_dir is ignored: a project's file may not set this"},
	"ResultFile":   {make: text("result_file = \"owned\""), says: ":1: result_file is ignored: applies to a single call only"},
	"OutputFormat": {make: text("output_format = \"json\""), says: ":1: output_format is ignored: a project's file may not set this"},
	"NotTOML":      {make: text("timeout = 9\nwhat\n"), says: ":2 is ignored: cannot read this line: what"},
}

func manyKeys() string {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "k%d = 1\n", i)
	}
	return b.String()
}

func (s *site) socket(path string) {
	s.t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must.OK(s.t, err)
	defer unix.Close(fd)
	// The name of a socket is short.
	dir, err := os.MkdirTemp("", "s")
	must.OK(s.t, err)
	defer os.RemoveAll(dir)
	must.OK(s.t, unix.Bind(fd, &unix.SockaddrUnix{Name: filepath.Join(dir, "s")}))
	if err := os.Rename(filepath.Join(dir, "s"), path); err != nil {
		s.t.Skip(err) // on another file system
	}
}

func (s *site) device(path string, major, minor uint32) {
	s.t.Helper()
	if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(major, minor))); err != nil {
		s.t.Skipf("no devices can be made here: %v", err)
	}
}

// Whatever stands in the place of a project's file, whoever has put it there and whatever it says, a plain command runs once,
// with its own input, output and exit code, and Belay says one line of it.
func TestProjectFile_Attacks(t *testing.T) {
	tried := 0
	for name, attack := range projectAttacks {
		if attack.root && os.Geteuid() != 0 {
			continue
		}
		tried++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, installer{})
			s.write("repo/.git/HEAD", "")
			attack.make(s, s.at("repo/.belay.toml"))
			outside := s.tree("elsewhere", "home")

			// Should the file be read without a bound, that must not take the memory of the machine.
			cmd := s.command("sh", "-c", `ulimit -v 4000000; exec belay-plain "$@"`, "sh",
				"run", "--", "sh", "-c", "echo x >> ../starts; cat; exit 3")
			cmd.Dir = s.at("repo")
			cmd.Stdin = strings.NewReader("the input")
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			must.OK(t, cmd.Start())
			late := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
			code := shellCode(cmd.Wait())
			if !late.Stop() {
				t.Error("belay hung")
			}
			starts, _ := os.ReadFile(s.at("starts"))
			if code != 3 || stdout.String() != "the input" || string(starts) != "x\n" {
				t.Errorf("exit code %d, %d starts, printed %q\n%s", code, len(starts)/2, stdout.String(), stderr.String())
			}
			said := stderr.String()
			if attack.says == "" && said != "" || attack.says != "" && (strings.Count(said, "\n") != 1 || !strings.Contains(said, attack.says)) {
				t.Errorf("said %q, want one line with %q", said, attack.says)
			}
			if strings.ContainsAny(said, "\x1b\a\u009b\x00") {
				t.Errorf("raw control characters: %q", said)
			}
			s.unchanged("elsewhere", outside, "elsewhere", "home")
			if _, err := os.Lstat(s.at("repo/owned")); err == nil {
				t.Error("it has had a file written")
			}
		})
	}
	t.Logf("%d attacks tried", tried)
}

// A checkout that belongs to another user, as one that is mounted into a container where root works, keeps its project's file.
func TestProjectFile_CheckoutOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	s := newSite(t, installer{})
	s.write("repo/.git/HEAD", "")
	s.write("repo/sub/x", "")
	s.write("repo/.belay.toml", "timeout = 9")
	s.chown(s.at("repo"), s.at("repo/.git"), s.at("repo/.belay.toml"), s.at("repo/sub"))
	for _, dir := range []string{"repo", "repo/sub"} {
		cmd := s.command("belay-plain", "run", "--dry-run", "--", "true")
		cmd.Dir = s.at(dir)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "9s per attempt") || strings.Contains(string(out), "ignored") {
			t.Errorf("%s: %v\n%s", dir, err, out)
		}
	}
}

// The user's own file may be a link; what it must not be stops the command with one line that says so.
func TestUserFile(t *testing.T) {
	for name, tt := range map[string]struct {
		make func(s *site, path string)
		says string // empty if it is read
	}{
		"Link": {func(s *site, path string) {
			s.write("elsewhere/dot", "timeout = 9")
			s.link(s.at("elsewhere/dot"), path)
		}, ""},
		"LinkToZero": {func(s *site, path string) { s.link("/dev/zero", path) }, "config.toml: it is a device"},
		"Pipe":       {func(s *site, path string) { s.pipe(path) }, "config.toml: it is a named pipe"},
		"Huge":       {func(s *site, path string) { s.write(path, "# "+strings.Repeat("x", 2<<20)) }, "config.toml: it is larger than 1 MiB"},
		"Stranger": {func(s *site, path string) {
			s.write(path, "timeout = 9")
			if os.Geteuid() == 0 {
				s.chown(path)
			} else {
				os.Chmod(path, 0)
			}
		}, "config.toml: it belongs to "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, installer{})
			os.MkdirAll(s.at("config/belay"), 0o700)
			tt.make(s, s.at("config/belay/config.toml"))
			cmd := s.command("sh", "-c", `ulimit -v 4000000; exec belay-plain run --dry-run -- true`)
			out, err := cmd.CombinedOutput()
			want, code := "9s per attempt", 0
			if tt.says != "" {
				want, code = tt.says, 2
			}
			if shellCode(err) != code || !strings.Contains(string(out), want) || code != 0 && strings.Count(string(out), "\n") != 1 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
