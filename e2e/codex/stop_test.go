//go:build linux

package codex_test

import (
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
				run := s.startBelay(nil, work("say hi"), nil)
				s.eventually("it waits for the API", func() bool { return s.requests() == 2 })
				time.Sleep(300 * time.Millisecond)
				run.cmd.Process.Signal(sig)
				r := run.wait()
				r.exits(128 + int(sig))
				r.is("interrupted", 1)
				r.prints("")
				if got := s.onRecord(r.result.SessionID); !isUUID(r.result.SessionID) || got != "interrupted" {
					t.Errorf("session %q is on record as %s", r.result.SessionID, got)
				}
				r.says("to go on: belay run --resume " + r.result.SessionID + " -- codex exec")
				r.used(100, 10)
				s.nobodyLeft()
				s.asked(2)
				if !full {
					return
				}
				// And it can be gone on with.
				s.rehearse("200(in=200, out=20)")
				again := s.belay([]string{"--resume", r.result.SessionID}, work("go on"))
				again.exits(0)
				again.used(200, 20)
				once(t, s.lastTold(), "say hi", "go on")
			})
		})
	}
}

// endless is a tool that does not end, and starts another that leaves its group and session.
const endless = "touch begun; setsid sleep 299 & sleep 300"

// A tool is stopped with codex, and what it has started.
func TestStop_WhileAToolRuns(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			each(t, sig == syscall.SIGTERM, func(t *testing.T, version string) {
				s := newStage(t, version, "tool(bash: `"+endless+"`)x*")
				run := s.startBelay(nil, work("say hi"), nil)
				s.eventually("the tool runs", func() bool { return s.has("begun") && s.runs("sleep 299") && s.runs("sleep 300") })
				run.cmd.Process.Signal(sig)
				r := run.wait()
				r.exits(128 + int(sig))
				r.is("interrupted", 1)
				s.nobodyLeft()
				s.asked(1)
				if got := s.onRecord(r.result.SessionID); got != "interrupted" {
					t.Errorf("the session is on record as %s", got)
				}
			})
		})
	}
}

func (s *stage) runs(args string) bool {
	for _, p := range s.left() {
		if strings.HasPrefix(p.args, args) {
			return true
		}
	}
	return false
}

// So it is for a deadline, which is no reason to try again.
func TestStop_Timeout(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		// After ten seconds codex asks the model what to do about the tool.
		s := newStage(t, version, "tool(bash: `"+endless+"`), hang")
		r := s.belay([]string{"--timeout", "20s"}, work("say hi"))
		r.exits(124)
		r.is("timeout", 1)
		r.says("codex exceeded its timeout (20 s) and was terminated")
		s.nobodyLeft()
		s.asked(2)
	})
}

// And for a total timeout while it waits for a limit.
func TestStop_TotalTimeout(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "hang x*")
		r := s.belay([]string{"--total-timeout", "15s"}, ask("say hi"))
		r.exits(124)
		r.is("timeout", 1)
		s.nobodyLeft()
		s.asked(1)
	})
}

// A second signal kills at once.
func TestStop_Twice(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "tool(bash: `touch begun; trap '' INT TERM; sleep 300; sleep 300`)x*")
		run := s.startBelay(nil, work("say hi"), nil)
		s.eventually("the tool runs", func() bool { return s.has("begun") })
		run.cmd.Process.Signal(syscall.SIGINT)
		time.Sleep(50 * time.Millisecond)
		run.cmd.Process.Signal(syscall.SIGINT)
		r := run.wait()
		r.exits(130)
		s.nobodyLeft()
	})
}

// A good run may leave something in the background: that is told, and ended where that is asked for.
func TestStop_LeftBehind(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "tool(bash: `nohup setsid sleep 298 >/dev/null 2>&1 & sleep 0.2`), 200")
		r := s.belay([]string{"--reap"}, work("say hi"))
		r.exits(0)
		r.prints(answer)
		s.nobodyLeft()
	})
}

// Who is interrupted between two attempts says so, and how to go on.
func TestStop_BetweenAttempts(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "true", in=100, out=10), 429x*`)
		run := s.startBelay(nil, work("say hi"), nil)
		s.eventually("it waits", func() bool { return strings.Contains(run.stderr.String(), "retry 1 in ") })
		run.cmd.Process.Signal(syscall.SIGINT)
		r := run.wait()
		r.exits(130)
		r.is("interrupted", 1)
		r.says("to go on: belay run --resume " + r.result.SessionID + " -- codex exec")
		r.used(100, 10)
		s.asked(2)
		if got := s.onRecord(r.result.SessionID); got != "interrupted" {
			t.Errorf("the session is on record as %s", got)
		}
	})
}

// The work is done but codex has not left yet, for which it takes five seconds: the answer is not lost.
func TestStop_WhileItLeaves(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200(in=100, out=10)")
		run := s.startBelay(nil, ask("say hi"), nil)
		s.eventually("it has its answer", func() bool { return s.requests() == 1 && s.api.Main()[0].End == "whole" })
		time.Sleep(1500 * time.Millisecond)
		run.cmd.Process.Signal(syscall.SIGINT)
		r := run.wait()
		r.prints(answer)
		r.used(100, 10)
	})
}
