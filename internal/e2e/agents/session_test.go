//go:build linux

package agents_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// An overload in the middle of a tool loop: the CLI itself tries again, and nothing is paid for twice.
// TestBooks_Details has a failure that the CLI gets over by itself every day.
func TestToolLoop_Overloaded(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, `tool(bash: "echo x >> made", in=100, out=10), overloaded, 200(in=200, out=20)`)
		r := s.Belay(nil, a.work("say hi"))
		r.Exits(0)
		r.Is("", 1)
		r.Prints(answer)
		r.Used(300, 30)
		s.Asked(3)
		s.Wrote("made", "x\n")
	})
}

// The same where the CLI gives up: belay goes on with the session. The tool has run once, and the prompt is not said again.
// TestOUT04_Usage has it every day.
func TestToolLoop_Resumed(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) { a.goesOn(t, version) })
}

func (a *agent) goesOn(t *testing.T, version string) *stage.Ran {
	t.Helper()
	s, n := a.givesUp(t, version, `tool(bash: "echo x >> made", in=100, out=10)`, ", 200(in=200, out=20)")
	r := s.Belay(soon, a.work("say hi"))
	r.Exits(0)
	r.Is("", 2)
	r.Prints(answer)
	r.Used(300, 30)
	s.Asked(2 + n)
	s.Wrote("made", "x\n")
	s.ToldOnce("say hi", "Continue where you left off.")
	all := s.API.Main()
	if first, last := all[0].Session, all[len(all)-1].Session; !r.Result.Resumed || first != last || a == codex && last != r.Result.SessionID {
		t.Errorf("resumed %v, sessions %q and %q, as told %q", r.Result.Resumed, first, last, r.Result.SessionID)
	}
	s.OnRecord(r.Result.SessionID, "done")
	return r
}

// --resume-prompt and --no-resume-on-retry.
func TestToolLoop_Otherwise(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		const tool = "tool(bash: echo x >> made)"
		s, _ := a.givesUp(t, version, tool, ", 200")
		r := s.Belay(append([]string{"--resume-prompt", "Onward."}, soon...), a.work("say hi"))
		r.Exits(0)
		s.ToldOnce("say hi", "Onward.")
		s.Rehearse(a.failing(version, tool, ", 200"))
		r = s.Belay(append([]string{"--no-resume-on-retry"}, soon...), a.work("say hi"))
		r.Exits(0)
		r.Is("", 2)
		if last := s.LastTold(); stage.Count(last, "say hi") != 1 || len(last) != 1 || r.Result.Resumed {
			t.Errorf("the last request says %q; resumed %v", last, r.Result.Resumed)
		}
	}, after{claude, "2.0.77"})
}

func TestResume_Unknown(t *testing.T) {
	each(t, true, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, "200")
		r := s.Belay([]string{"--resume", a.noSession}, a.ask("go on"))
		r.Exits(max(a.notFoundCode, 1))
		r.Is("session_not_found", 1)
		r.Prints("")
		if a.notFound != "" {
			r.Says(a.notFound + a.noSession)
		}
		s.Asked(0)
	}, after{gemini, geminiOld}) // which begins a new one
}

// Only --resume-or-new begins a new session, and says so.
func TestResume_OrNew(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, "200")
		r := s.Belay([]string{"--resume-or-new", a.noSession}, a.ask("go on"))
		r.Exits(0)
		r.Is("", 2)
		r.Prints(answer)
		r.Says("session " + a.noSession + " no longer exists; starting a new one")
		s.Asked(1)
		if r.Result.SessionID == a.noSession || r.Result.SessionID == "" || r.Result.Resumed {
			t.Errorf("%+v", r.Result)
		}
		last := s.Belay([]string{"--resume-or-new", "last"}, a.ask("go on"))
		last.Exits(0)
		if last.Result.SessionID != r.Result.SessionID || !last.Result.Resumed {
			t.Errorf("%+v", last.Result)
		}
	})
}

func TestResume_LastOfNothing(t *testing.T) {
	newest(t, func(t *testing.T, a *agent, s *stage.Stage) {
		r := s.Belay([]string{"--resume", "last"}, a.ask("go on"))
		r.Exits(2)
		r.Prints("")
		r.Says("no session of " + a.Name + " is on record for this directory")
		s.Asked(0)
		if full {
			s.Belay([]string{"--resume-or-new", "last"}, a.ask("go on")).Exits(0)
			s.Asked(1)
		}
	})
}

// What the command line itself resumes is the CLI's own way to do it.
func TestResume_OwnArguments(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, "200(in=100, out=10)x*")
		first := s.Belay(nil, a.ask("first"))
		first.Exits(0)
		for _, args := range a.resumes(first.Result.SessionID) {
			r := s.Belay(nil, args)
			r.Exits(0)
			r.Used(100, 10)
			if r.Result.SessionID != first.Result.SessionID {
				t.Errorf("%q: session %s, want %s", args, r.Result.SessionID, first.Result.SessionID)
			}
		}
		s.Asked(4)
		s.ToldOnce("first", "second", "third", "fourth")
	})
}

// parent is the parent of a process.
func parent(pid int) (ppid int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		fmt.Sscanf(line, "PPid: %d", &ppid)
	}
	return ppid
}

// started are the processes that belay has started itself.
func started(run *stage.Running) (found []stage.Proc) {
	run.T.Helper()
	for _, p := range run.Left() {
		if parent(p.PID) == run.Cmd.Process.Pid && !strings.Contains(p.Args, "belay") {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		run.T.Fatalf("belay is the parent of none of %v", run.Left())
	}
	return found
}

// kill -9 of belay and the CLI in the middle of a tool: nothing is left, and the session goes on. Belay does not
// know what the killed attempt has spent; the next result holds what the next call has spent.
func TestResume_AfterKill(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, `tool(bash: "touch begun; tail -f /dev/null", in=100, out=10), 200(text="back", in=200, out=20)`)
		run := s.StartBelay(nil, a.work("remember plum"), nil)
		s.Eventually("the tool runs", func() bool { return s.Has("begun") })
		clis := started(run)
		run.Cmd.Process.Kill()
		for _, p := range clis {
			p.Kill() // unless it has died with belay
		}
		if r := run.Wait(); r.Code != 137 {
			t.Errorf("exit code %d", r.Code)
		}
		// The next run ends what the killed one has left, and goes on.
		r := s.Belay([]string{"--resume", "last"}, a.work("go on"))
		r.Exits(0)
		r.Prints("back\n")
		r.Used(200, 20)
		s.ToldOnce("remember plum", "go on")
		s.Asked(2)
		s.NobodyLeft()
	})
}

// A session never has two writers.
func TestResume_OneWriter(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, `200(text="one"), slow(20s), 200(text="three")`)
		first := s.Belay(nil, a.ask("first"))
		first.Exits(0)
		id := first.Result.SessionID
		second := s.StartBelay([]string{"--resume", id}, a.ask("second"), nil)
		s.Eventually("the second has asked", func() bool { return s.Requests() == 2 })
		third := s.StartBelay([]string{"--resume", id}, a.ask("third"), nil)
		r2, r3 := second.Wait(), third.Wait()
		r2.Exits(0)
		r3.Exits(0)
		s.Asked(3)
		r3.Says("session")
		s.ToldOnce("first", "second", "third")
		if r := s.Belay([]string{"--resume", id, "--no-wait"}, a.ask("alone")); r.Code != 0 {
			t.Errorf("the session is still taken: %s", r.Stderr)
		}
	})
}

// Another directory has other sessions; --cwd is the one that counts.
func TestResume_LastOfADirectory(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, "200")
		first := s.Belay(nil, a.ask("remember pear"))
		first.Exits(0)
		other := filepath.Join(s.Dir, "other")
		must.OK(t, os.Mkdir(other, 0o700))
		s.Belay([]string{"--cwd", other, "--resume", "last"}, a.ask("go on")).Exits(2)
		if a == claude && stage.UpTo(version, "2.1.197") { // later ones find them from everywhere
			gone := s.Belay([]string{"--cwd", other, "--resume", first.Result.SessionID}, a.ask("go on"))
			gone.Exits(1)
			gone.Is("session_not_found", 1)
		}
		s.Asked(1)
		work := s.Work
		s.Work = other
		back := s.Belay([]string{"--cwd", work, "--resume", "last"}, a.ask("go on"))
		back.Exits(0)
		if back.Result.SessionID != first.Result.SessionID {
			t.Errorf("%s, want %s", back.Result.SessionID, first.Result.SessionID)
		}
		s.Work = work
	})
}

// A run that was told to wait tells the others: the next one does not even ask.
func TestGate_Holds(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		if a == opencode {
			t.Skip("it does not tell when a limit resets")
		}
		s := a.New(t, version, "usage-limit(resets=3h)x*")
		first := s.Belay(nil, a.ask("say hi"))
		first.Exits(75)
		n := s.Requests()
		for _, flags := range [][]string{nil, {"--no-wait"}} {
			r := s.Belay(flags, a.ask("say hi"))
			r.Exits(75)
			r.Is("usage_limit", 0)
			r.Says(a.Name, "belay gates reset")
			at, err := time.Parse(time.RFC3339, r.Result.RetryAt)
			said, _ := time.Parse(time.RFC3339, first.Result.RetryAt)
			if reset := s.API.Main()[0].At.Add(3 * time.Hour); err != nil || at.Sub(reset).Abs() > 2*time.Minute || at.Sub(said).Abs() > time.Second {
				t.Errorf("to be tried again at %q, the limit resets at %v, and the first run said %q", r.Result.RetryAt, reset, first.Result.RetryAt)
			}
		}
		s.Asked(n)
		s.Belay([]string{"--no-gate"}, a.ask("say hi")).Exits(75)
		s.Asked(2 * n)
		s.Run("belay", "gates", "reset", "--all").Exits(0)
		s.Rehearse("200")
		s.Belay(nil, a.ask("say hi")).Exits(0)
	})
}

// What is wrong is said in one line, before anything starts.
func TestWrong(t *testing.T) {
	newest(t, func(t *testing.T, a *agent, s *stage.Stage) {
		for _, flags := range []string{"--profile cloud", "--resume not-an-id", "--resume-or-new ../../x", "--max-cost much", "--max-cost -1", "--stall-timeout soon",
			"--resume last --resume-or-new last", "--prompt a --prompt-file b", "--prompt-file /nonexistent/prompt"} {
			r := s.Belay(strings.Fields(flags), a.ask("hi"))
			if r.Code != 2 || strings.Count(r.Stderr, "\n") > 2 || r.Stderr == "" || r.Stdout != "" {
				t.Errorf("%s: exit code %d\n%s", flags, r.Code, r.Stderr)
			}
		}
		s.Asked(0)
	})
}
