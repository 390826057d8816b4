package supervise_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

const (
	ctrlC = "\x03"
	ctrlZ = "\x1a"
)

// screen is a terminal, a session on it, and a person in front of it.
type screen struct {
	t   *testing.T
	pty *os.File
	cmd *exec.Cmd

	mu   sync.Mutex
	text bytes.Buffer

	done chan struct{}
}

// newScreen starts a command as the leader of a session on a terminal.
func newScreen(t *testing.T, cmd *exec.Cmd) *screen {
	t.Helper()
	cmd.Stderr = nil
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 200})
	must.OK(t, err)
	s := &screen{t: t, pty: pollable(t, master), cmd: cmd, done: make(chan struct{})}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := s.pty.Read(buf)
			s.mu.Lock()
			s.text.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() {
		cmd.Wait()
		close(s.done)
	}()
	t.Cleanup(func() {
		s.pty.Close() // hangs up
		select {
		case <-s.done:
		case <-time.After(testTimeout):
			cmd.Process.Kill()
			<-s.done
		}
		if t.Failed() {
			t.Logf("the screen was:\n%q", s.shown())
		}
	})
	return s
}

// pollable returns a file that can be closed while it is being read: package pty has asked for the descriptor,
// and then Close waits for the reader.
func pollable(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	must.OK(t, err)
	f.Close()
	unix.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), "ptmx")
}

func (s *screen) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// expect waits until the screen shows text, and forgets all up to there.
func (s *screen) expect(text string) {
	s.t.Helper()
	if !within(testTimeout, func() bool { return strings.Contains(s.shown(), text) }) {
		s.t.Fatalf("the screen does not show %q", text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Next(strings.Index(s.text.String(), text) + len(text))
}

func (s *screen) send(keys string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// report is what the helper that runs something on a terminal has to tell.
type report struct {
	Placement    supervise.Placement
	Shares       bool
	IsTerminal   bool
	Code, Signal int
	Reason       string
	Front        bool // we had the terminal afterwards
	SameModes    bool // and it was as before
	Interrupted  bool // we have got SIGINT ourselves
}

func init() {
	// terminal runs a script with a placement; it stops it when the file that is its first argument with .stop exists.
	helpers["terminal"] = func(args []string) {
		file, who, placement, script := args[0], args[1], args[2], args[3]
		ints := notify(syscall.SIGINT)
		notify(syscall.SIGHUP) // the leader of a session whose terminal goes away gets it
		r := report{Placement: supervise.TerminalPlacement(), Shares: supervise.SharesTerminal(),
			IsTerminal: supervise.IsTerminal(os.Stdin)}
		spec := supervise.Spec{Path: "/bin/sh", RunID: newID(), Args: []string{"sh", "-c", script, file},
			Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
		spec.Placement = map[string]supervise.Placement{"found": r.Placement, "shared": supervise.SharedGroup,
			"foreground": supervise.Foreground}[placement]
		s := &supervise.Supervisor{}
		if who == "owner" {
			s = supervise.Own()
		}
		before, _ := unix.IoctlGetTermios(0, unix.TCGETS)
		exit, err := s.Run(spec, func(p *supervise.Process) {
			go func() {
				within(time.Hour, func() bool { return exists(file + ".stop") })
				p.Kill()
			}()
		})
		if err != nil {
			panic(err)
		}
		r.Code, r.Signal, r.Reason = exit.Code, int(exit.Signal), exit.Reason.String()
		front, _ := unix.IoctlGetInt(0, unix.TIOCGPGRP)
		after, _ := unix.IoctlGetTermios(0, unix.TCGETS)
		r.Front = front == unix.Getpgrp()
		r.SameModes = before != nil && after != nil && *before == *after
		if exit.Signal == syscall.SIGINT { // ours may still be on its way
			wait := map[bool]time.Duration{true: testTimeout, false: 50 * time.Millisecond}
			within(wait[spec.Placement == supervise.SharedGroup], func() bool { return len(ints) > 0 })
		}
		r.Interrupted = len(ints) > 0
		data, _ := json.Marshal(r)
		if err := os.WriteFile(file+".tmp", data, 0o600); err != nil {
			panic(err)
		}
		os.Rename(file+".tmp", file+".report")
	}
}

// reported waits for the report.
func reported(t *testing.T, file string) (r report) {
	t.Helper()
	eventually(t, "there is a report", func() bool { return exists(file + ".report") })
	data, err := os.ReadFile(file + ".report")
	if err != nil || json.Unmarshal(data, &r) != nil {
		t.Fatalf("%q, %v", data, err)
	}
	return r
}

// both plays a scenario with an owner and in the library's way.
func both(t *testing.T, play func(t *testing.T, who, file string)) {
	t.Parallel()
	for _, who := range []string{"owner", "library"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			play(t, who, filepath.Join(t.TempDir(), "f"))
		})
	}
}

// scenarioProcess is a process of a scenario: the helper, or the command that it runs.
type scenarioProcess struct {
	ppid, group, front int
	state              string
}

// scenarioProcesses are the processes whose command line names the scenario's file, by pid.
func scenarioProcesses(file string) map[int]scenarioProcess {
	found := map[int]scenarioProcess{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if cmdline, _ := os.ReadFile(dir + "/cmdline"); !strings.Contains(string(cmdline), file) {
			continue
		}
		stat, _ := os.ReadFile(dir + "/stat")
		_, rest, ok := strings.Cut(string(stat), ") ")
		if !ok {
			continue
		}
		var p scenarioProcess
		var session, tty int
		fmt.Sscan(rest, &p.state, &p.ppid, &p.group, &session, &tty, &p.front)
		pid, _ := strconv.Atoi(filepath.Base(dir))
		found[pid] = p
	}
	return found
}

// states are the states of all of them.
func states(file string) (found string) {
	for _, p := range scenarioProcesses(file) {
		found += p.state
	}
	return found
}

// inFront waits until the command has the terminal. If it has asked for it before, it is stopped for a moment, and a
// Ctrl-Z of that moment may be lost; but no user is that fast.
func inFront(t *testing.T, file string) {
	t.Helper()
	eventually(t, "the command is in front", func() bool {
		all := scenarioProcesses(file)
		for _, p := range all {
			if _, child := all[p.ppid]; child && p.front == p.group && p.state != "T" {
				return true
			}
		}
		return false
	})
}
