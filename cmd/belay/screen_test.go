//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/test/must"
)

// screen is a terminal that a command runs on, and a person in front of it.
type screen struct {
	t   *testing.T
	dir string
	id  string
	pty *os.File
	cmd *exec.Cmd

	mu   sync.Mutex
	text []byte // what was shown and has not been expected yet
	all  []byte

	done chan struct{}
	code int
}

// newScreen starts a command as the leader of a session on a terminal of its own.
func newScreen(t *testing.T, args ...string) *screen {
	t.Helper()
	s := &screen{t: t, dir: t.TempDir(), done: make(chan struct{})}
	s.id = fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid())
	for _, name := range []string{"home", ".tmp"} {
		must.OK(t, os.Mkdir(filepath.Join(s.dir, name), 0o700))
	}
	env := append(environment(programs(t), s.dir, s.id), "TERM=xterm", "PS1=$ ", "HISTFILE=", "BASH_SILENCE_DEPRECATION_WARNING=1")
	s.cmd = exec.Command(lookIn(env, args[0]), args[1:]...)
	s.cmd.Dir, s.cmd.Env = s.dir, env
	master, err := pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 24, Cols: 80})
	must.OK(t, err)
	s.pty = pollable(t, master)
	go s.read()
	go func() {
		s.code = shellCode(s.cmd.Wait())
		close(s.done)
	}()
	t.Cleanup(func() {
		s.pty.Close() // hangs up
		select {
		case <-s.done:
		case <-time.After(testTimeout):
			s.cmd.Process.Kill()
			<-s.done
		}
		// What hangs up is allowed a moment to go.
		within(testTimeout, func() bool { return len(marked(idVar+"="+s.id)) == 0 })
		afterwards(t, s.dir, s.id)
		if t.Failed() {
			t.Logf("the screen was:\n%q", s.shown())
		}
	})
	return s
}

// pollable returns a file that can be closed, which hangs up, while it is being read. Package pty has asked for
// the descriptor, and a file that was asked for it waits for the reader.
func pollable(t *testing.T, f *os.File) *os.File {
	t.Helper()
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	must.OK(t, err)
	return os.NewFile(uintptr(fd), f.Name())
}

// control calls f with the descriptor of the terminal.
func (s *screen) control(f func(fd int)) {
	s.t.Helper()
	conn, err := s.pty.SyscallConn()
	if err == nil {
		err = conn.Control(func(fd uintptr) { f(int(fd)) })
	}
	must.OK(s.t, err)
}

// raw reports whether a program reads the terminal key by key.
func (s *screen) raw() (is bool) {
	s.control(func(fd int) {
		modes, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		is = err == nil && modes.Lflag&unix.ICANON == 0
	})
	return is
}

// inFront waits until a job of the shell has the terminal and is not stopped; a name says which command in it.
func (s *screen) inFront(name ...string) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("a job is in front %s", name), func() bool {
		group := s.cmd.Process.Pid
		s.control(func(fd int) { group, _ = unix.IoctlGetInt(fd, unix.TIOCGPGRP) })
		if group == s.cmd.Process.Pid || strings.HasPrefix(field(fmt.Sprintf("/proc/%d", group), "State"), "T") {
			return false
		}
		return len(name) == 0 || slices.ContainsFunc(marked(idVar+"="+s.id), func(p proc) bool {
			return strings.HasPrefix(p.args, name[0])
		})
	})
}

// resize changes the size of the terminal.
func (s *screen) resize(rows, cols uint16) {
	s.t.Helper()
	s.control(func(fd int) { unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols}) })
}

// newShell starts an interactive bash, in which $B stands for b.
func newShell(t *testing.T, b string) *screen {
	t.Helper()
	s := newScreen(t, "bash", "--norc", "--noprofile", "--noediting", "-i")
	s.expect(`\$ $`)
	s.run("B='" + b + "'; set -o ignoreeof; bind 'set enable-bracketed-paste off' 2>/dev/null")
	return s
}

// everyWay runs a scenario with the bare command, which proves the scenario, and with belay, which must not differ.
func everyWay(t *testing.T, scenario func(t *testing.T, b string)) {
	t.Parallel()
	for _, way := range []struct{ name, b string }{{"Bare", "env"}, {"Belay", "belay run --"}} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, way.b)
		})
	}
}

// with returns the command with b in front.
func with(b string, args ...string) []string { return append(strings.Fields(b), args...) }

func (s *screen) read() {
	buf := make([]byte, 4096)
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		s.text = append(s.text, buf[:n]...)
		s.all = append(s.all, buf[:n]...)
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *screen) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.all)
}

// expect waits for what the screen shows after the last expectation, and returns it up to there.
func (s *screen) expect(pattern string) string {
	s.t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	var before string
	found := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		at := re.FindIndex(s.text)
		if at == nil {
			return false
		}
		before = string(s.text[:at[1]])
		s.text = s.text[at[1]:]
		return true
	}
	if !within(testTimeout/2, found) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.t.Fatalf("the screen does not show %q; since the last time it shows %q", pattern, s.text)
	}
	return before
}

// send types.
func (s *screen) send(text string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// run types a line to the shell and waits for the prompt after it. It returns what was shown.
func (s *screen) run(line string) string {
	s.t.Helper()
	s.send(line + "; echo done:$?\r")
	shown := s.expect(`^done:\d+\r\n(?s:.*?)\$ $`)
	_, shown, _ = strings.Cut(shown, "\r\n") // the echo of what was typed
	shown, _, _ = strings.Cut(shown, "done:")
	return shown
}

// types types a line to the shell and does not wait.
func (s *screen) types(line string) {
	s.t.Helper()
	s.send(line + "\r")
	s.expect(regexp.QuoteMeta(lastWord(line)) + `\r\n`)
}

// lastWord is short enough not to be wrapped by the terminal.
func lastWord(line string) string { return line[strings.LastIndexByte(line, ' ')+1:] }

// prompt waits for the shell's prompt.
func (s *screen) prompt() { s.t.Helper(); s.expect(`\$ $`) }

// ends waits for the end of the command.
func (s *screen) ends(code int) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(testTimeout):
		s.t.Fatalf("it has not ended")
	}
	if s.code != code {
		s.t.Fatalf("exit code %d, want %d", s.code, code)
	}
}

// path is a file in the test's directory.
func (s *screen) path(name string) string { return filepath.Join(s.dir, name) }

func (s *screen) write(name, text string) {
	s.t.Helper()
	must.OK(s.t, os.WriteFile(s.path(name), []byte(text), 0o644))
}

const (
	ctrlC         = "\x03"
	ctrlD         = "\x04"
	ctrlZ         = "\x1a"
	ctrlBackslash = "\x1c"
	escape        = "\x1b"
)
