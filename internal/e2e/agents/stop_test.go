//go:build linux

package agents_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// endless is a tool that does not end, and starts another that leaves its group and session. Claude refuses a mere sleep.
const endless = "tool(bash: `touch begun; setsid tail -F /dev/null & tail -f /dev/null`)"

// endlessRuns reports whether both of them run.
func endlessRuns(s *stage.Stage) bool {
	return s.Has("begun") && s.Runs("tail -F") && s.Runs("tail -f")
}

// A run that is interrupted says how to go on, and leaves no process.
func TestStop_WhileItWaits(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			each(t, sig == syscall.SIGINT, func(t *testing.T, a *agent, version string) {
				s := a.New(t, version, `tool(bash: "echo made", in=100, out=10), hang`)
				run := s.StartBelay(nil, a.work("say hi"), nil)
				s.Eventually("it waits for the API", func() bool { return s.Requests() == 2 })
				run.Signal(sig)
				r := run.Wait()
				r.Exits(128 + int(sig))
				r.Is("interrupted", 1)
				r.Prints("")
				s.OnRecord(r.Result.SessionID, "interrupted")
				r.Says("continue with: belay run --resume " + r.Result.SessionID + " -- " + a.headless)
				r.Used(100, 10)
				s.NobodyLeft()
				s.Asked(2)
				if !full {
					return
				}
				// And it can be gone on with.
				s.Rehearse("200(in=200, out=20)")
				again := s.Belay([]string{"--resume", r.Result.SessionID}, a.work("go on"))
				again.Exits(0)
				again.Used(200, 20)
				s.ToldOnce("say hi", "go on")
			})
		})
	}
}

// A tool is stopped with the CLI, and what it has started.
func TestStop_WhileAToolRuns(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			each(t, sig == syscall.SIGTERM, func(t *testing.T, a *agent, version string) {
				s := a.New(t, version, endless+", hang x*")
				run := s.StartBelay(nil, a.work("say hi"), nil)
				s.Eventually("the tool runs", func() bool { return endlessRuns(s) })
				run.Signal(sig)
				r := run.Wait()
				r.Exits(128 + int(sig))
				r.Is("interrupted", 1)
				s.NobodyLeft()
				if n := s.Requests(); n > a.toolRequests {
					t.Errorf("%d requests", n)
				}
				s.OnRecord(r.Result.SessionID, "interrupted")
			})
		})
	}
}

// So it is where another process asks for it.
func TestStop_Cancelled(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, endless+", hang x*")
		run := s.StartBelay(nil, a.work("say hi"), nil)
		s.Eventually("the tool runs", func() bool { return endlessRuns(s) })
		var listed struct{ ID string }
		if err := json.Unmarshal([]byte(s.Run("belay", "ps", "--json").Stdout), &listed); err != nil || listed.ID == "" {
			t.Errorf("%+v, %v", listed, err)
		}
		s.Run("belay", "cancel", listed.ID).Exits(0)
		r := run.Wait()
		r.Is("interrupted", 1)
		r.Exits(143)
		s.NobodyLeft()
	})
}

// SIGHUP ends it like the others.
func TestStop_HangUp(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, "hang")
		run := s.StartBelay(nil, a.ask("say hi"), nil)
		s.Eventually("it asks", func() bool { return s.Requests() == 1 })
		run.Signal(syscall.SIGHUP)
		r := run.Wait()
		r.Exits(129)
		r.Is("interrupted", 1)
		s.NobodyLeft()
	})
}

// So it is for a deadline of all attempts, which is no reason to try again; TestINTEG05_TimedOut has one of an attempt.
func TestStop_TotalTimeout(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		inTime(1, func(limit time.Duration) *stage.Stage {
			s := a.New(t, version, "hang x*")
			r := s.Belay([]string{"--total-timeout", limit.String()}, a.ask("say hi"))
			r.Exits(124)
			r.Is("timeout", 1)
			s.NobodyLeft()
			return s
		})
	})
}

// A CLI that says nothing for too long is ended, and started once more.
func TestStop_Stall(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, "hang x*")
		r := s.Belay(append([]string{"--stall-timeout", "30s"}, soon...), a.ask("say hi"))
		r.Exits(124)
		r.Is("stalled", 2)
		r.Says(a.Name + " produced no output for 30 s and was terminated")
		s.Asked(2)
		s.NobodyLeft()
	})
}

// A second signal kills at once.
func TestStop_Twice(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, "tool(bash: `touch begun; trap '' INT TERM; tail -f /dev/null`), hang x*")
		run := s.StartBelay(nil, a.work("say hi"), nil)
		s.Eventually("the tool runs", func() bool { return s.Has("begun") })
		s.Eventually("it has ended", func() bool { return run.Cmd.Process.Signal(syscall.SIGINT) != nil })
		run.Wait().Exits(130)
		s.NobodyLeft()
	})
}

// A run that is interrupted between two attempts says so, and how to go on.
func TestStop_BetweenAttempts(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s, _ := a.givesUp(t, version, `tool(bash: "true", in=100, out=10)`, " x*")
		run := s.StartBelay([]string{"--base-delay", "2m", "--max-delay", "2m", "--jitter", "none"}, a.work("say hi"), nil)
		s.Eventually("it waits", func() bool { return strings.Contains(run.Stderr.String(), "retry 1") })
		run.Signal(syscall.SIGINT)
		r := run.Wait()
		r.Exits(130)
		r.Is("interrupted", 1)
		r.Says("continue with: belay run --resume " + r.Result.SessionID + " -- " + a.headless)
		r.Used(100, 10)
		s.Asked(2)
		s.OnRecord(r.Result.SessionID, "interrupted")
	}, after{claude, "2.0.77"})
}

// A CLI that is killed, not by belay, has crashed; it is not started again.
func TestStop_Killed(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, "hang x*")
		run := s.StartBelay(nil, a.ask("say hi"), nil)
		s.Eventually("it asks", func() bool { return s.Requests() == 1 })
		for _, p := range s.Left() {
			if p.PID != run.Cmd.Process.Pid {
				p.Kill()
			}
		}
		r := run.Wait()
		r.Exits(137)
		r.Is("crash", 1)
		s.Asked(1)
	})
}
