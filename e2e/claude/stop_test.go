//go:build linux

package claude_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Who is interrupted says how to go on, and leaves nobody.
func TestStop_WhileItWaits(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			each(t, sig == syscall.SIGINT, func(t *testing.T, version string) {
				s := newStage(t, version, `tool(bash: "echo made", in=100, out=10), hang`)
				run := s.startBelay(nil, []string{"-p", "say hi", "--allowedTools", "Bash"}, nil)
				s.eventually("it waits for the API", func() bool { return s.requests() == 2 })
				time.Sleep(300 * time.Millisecond)
				run.cmd.Process.Signal(sig)
				r := run.wait()
				r.exits(128 + int(sig))
				r.is("interrupted", 1)
				r.prints("")
				if !isUUID(r.result.SessionID) || s.onRecord(r.result.SessionID) != "interrupted" {
					t.Errorf("session %q is on record as %s", r.result.SessionID, s.onRecord(r.result.SessionID))
				}
				r.says("to go on: belay run --resume " + r.result.SessionID + " -- claude -p")
				r.used(100, 10)
				s.nobodyLeft()
				s.asked(2)
				if !full {
					return
				}
				// And it can be gone on with.
				s.rehearse("200")
				again := s.belay([]string{"--resume", r.result.SessionID}, []string{"-p", "go on"})
				again.exits(0)
				if texts := told(t, s.api.Main()[0]); count(texts, "say hi") != 1 || count(texts, "go on") != 1 {
					t.Errorf("the request says %q", texts)
				}
			})
		})
	}
}

// endless are tools that do not end: claude refuses a mere sleep, and each starts one that leaves its group.
const endless = `touch begun; setsid python3 -c 'import time; time.sleep(300)' & tail -f /dev/null`

// A tool is stopped with claude, and what it has started.
func TestStop_WhileAToolRuns(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			each(t, sig == syscall.SIGTERM, func(t *testing.T, version string) {
				s := newStage(t, version, fmt.Sprintf("tool(bash: `%s`)x*", endless))
				run := s.startBelay(nil, []string{"-p", "say hi", "--allowedTools", "Bash"}, nil)
				s.eventually("the tool runs", func() bool { return s.has("begun") && s.runs("time.sleep(300)") })
				run.cmd.Process.Signal(sig)
				r := run.wait()
				r.exits(128 + int(sig))
				r.is("interrupted", 1)
				s.nobodyLeft()
				s.asked(1)
				if s.onRecord(r.result.SessionID) != "interrupted" {
					t.Errorf("the session is on record as %s", s.onRecord(r.result.SessionID))
				}
			})
		})
	}
}

func (s *stage) runs(args string) bool {
	for _, p := range s.left() {
		if strings.Contains(p.args, args) {
			return true
		}
	}
	return false
}

// So it is for a deadline, which is no reason to try again.
func TestStop_Timeout(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, fmt.Sprintf("tool(bash: `%s`)x*", endless))
		r := s.belay([]string{"--timeout", "25s"}, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.exits(124)
		r.is("timeout", 1)
		r.says("claude exceeded its timeout (25 s) and was terminated")
		s.nobodyLeft()
		s.asked(1)
	})
}

// A tool that runs is life, up to its own limit: --stall-timeout counts for it too where the user sets it.
func TestStop_Stall(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "hang x*")
		r := s.belay([]string{"--stall-timeout", "20s"}, []string{"-p", "say hi"})
		r.exits(124)
		r.is("stalled", 2)
		r.says("claude produced no output for 20 s and was terminated")
		s.asked(2)
		s.nobodyLeft()
	})
}

// A second signal kills at once.
func TestStop_Twice(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "tool(bash: `touch begun; trap '' INT TERM; tail -f /dev/null`)x*")
		run := s.startBelay(nil, []string{"-p", "say hi", "--allowedTools", "Bash"}, nil)
		s.eventually("the tool runs", func() bool { return s.has("begun") })
		run.cmd.Process.Signal(syscall.SIGINT)
		time.Sleep(50 * time.Millisecond)
		run.cmd.Process.Signal(syscall.SIGINT)
		r := run.wait()
		r.exits(130)
		s.nobodyLeft()
	})
}

// A command in the background at the end: the newest claude stays for it. The result is kept and delivered.
func TestStop_BackgroundTask(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(Bash: {"command": "echo begun; for i in 1 2 3 4; do sleep 1; done; echo over", "description": "x", "run_in_background": true}), 200(text="first answer"), 200(text="second answer")`)
		r := s.belay(nil, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.exits(0)
		r.is("", 1)
		if !strings.HasPrefix(r.stdout, "first answer\n") {
			t.Errorf("stdout is %q", r.stdout)
		}
		s.nobodyLeft()
	})
}
