//go:build linux

package claude_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// An overload in the middle of a tool loop: claude itself tries again, and nothing is paid for twice.
func TestToolLoop_Overloaded(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo x >> made", in=100, out=10), overloaded, 200(in=200, out=20)`)
		r := s.Belay(nil, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.Exits(0)
		r.Is("", 1)
		r.Prints(answer)
		r.Used(300, 30)
		s.Asked(3)
		s.Wrote("made", "x\n")
	})
}

// The same where claude does not try again by itself: belay goes on with the session. The tool has run once, and the
// prompt is not said again.
func TestToolLoop_Resumed(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo x >> made", in=100, out=10), 500, 200(in=200, out=20)`)
		s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		if stage.UpTo(version, "2.0.77") {
			s.Rehearse(`tool(bash: "echo x >> made", in=100, out=10), 500x2, 200(in=200, out=20)`) // it asks once more without a stream
		}
		r := s.Belay([]string{"--base-delay", "100ms"}, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.Exits(0)
		r.Is("", 2)
		r.Prints(answer)
		r.Used(300, 30)
		if stage.UpTo(version, "2.0.77") {
			s.Asked(4)
		} else {
			s.Asked(3)
		}
		s.Wrote("made", "x\n")
		all := s.API.Main()
		s.ToldOnce("say hi", "Continue where you left off.")
		if !r.Result.Resumed || all[0].Session != all[len(all)-1].Session {
			t.Errorf("resumed %v, sessions %q and %q", r.Result.Resumed, all[0].Session, all[len(all)-1].Session)
		}
		s.OnRecord(r.Result.SessionID, "done")
	})
}

// --resume-prompt and --no-resume-on-retry.
func TestToolLoop_Otherwise(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: echo x >> made), 500(x-should-retry=false), 200`)
		s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		r := s.Belay([]string{"--base-delay", "100ms", "--resume-prompt", "Onward."}, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.Exits(0)
		s.ToldOnce("Onward.", "say hi")
		s.Rehearse(`tool(bash: echo x >> made), 500(x-should-retry=false), 200`)
		r = s.Belay([]string{"--base-delay", "100ms", "--no-resume-on-retry"}, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.Exits(0)
		r.Is("", 2)
		if last := s.LastTold(); stage.Count(last, "say hi") != 1 || len(last) != 1 || r.Result.Resumed {
			t.Errorf("the last request says %q; resumed %v", last, r.Result.Resumed)
		}
	}, "2.0.77")
}

// A session can be gone on with, by its id and as the last one of the directory.
func TestResume_Valid(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, `200(text="one", in=100, out=10), 200(text="two", in=100, out=10), 200(text="three", in=100, out=10)`)
		first := s.Belay(nil, []string{"-p", "remember pear"})
		first.Exits(0)
		id := first.Result.SessionID
		second := s.Belay([]string{"--resume", id}, []string{"-p", "and now?"})
		second.Exits(0)
		second.Prints("two\n")
		third := s.Belay([]string{"--resume", "last", "--prompt", "and then?"}, []string{"-p"})
		third.Exits(0)
		third.Prints("three\n")
		s.Asked(3)
		s.ToldOnce("remember pear", "and now?", "and then?")
		for _, r := range []*stage.Ran{second, third} {
			if r.Result.SessionID != id || !r.Result.Resumed {
				t.Errorf("session %s, resumed %v; want %s", r.Result.SessionID, r.Result.Resumed, id)
			}
			r.Used(100, 10)
			if r.Result.Usage.Cost == nil || *r.Result.Usage.Cost > *first.Result.Usage.Cost*1.5 {
				t.Errorf("each costs the same, but %v after %v", show(r.Result.Usage.Cost), show(first.Result.Usage.Cost))
			}
		}
	})
}

func show(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

const nobody = "00000000-0000-4000-8000-000000000000"

func TestResume_Unknown(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		r := s.Belay([]string{"--resume", nobody}, []string{"-p", "go on"})
		r.Exits(1)
		r.Is("session_not_found", 1)
		r.Prints("")
		r.Says("No conversation found with session ID: " + nobody)
		s.Asked(0)
	})
}

// Only --resume-or-new begins a new session, and says so.
func TestResume_OrNew(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		r := s.Belay([]string{"--resume-or-new", nobody}, []string{"-p", "go on"})
		r.Exits(0)
		r.Is("", 2)
		r.Prints(answer)
		r.Says("there is no session " + nobody + " any more; beginning a new one")
		s.Asked(1)
		if r.Result.SessionID == nobody || r.Result.SessionID == "" || r.Result.Resumed {
			t.Errorf("%+v", r.Result)
		}
		last := s.Belay([]string{"--resume-or-new", "last"}, []string{"-p", "go on"})
		last.Exits(0)
		if last.Result.SessionID != r.Result.SessionID || !last.Result.Resumed {
			t.Errorf("%+v", last.Result)
		}
	})
}

func TestResume_LastOfNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "200")
	r := s.Belay([]string{"--resume", "last"}, []string{"-p", "go on"})
	r.Exits(2)
	r.Says("no session of claude on record for this directory")
	s.Asked(0)
	r = s.Belay([]string{"--resume-or-new", "last"}, []string{"-p", "go on"})
	r.Exits(0)
	s.Asked(1)
}

// What the command line itself resumes is claude's own way to do it.
func TestResume_OwnFlags(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		id := "11111111-1111-4111-8111-111111111111"
		first := s.Belay(nil, []string{"-p", "--session-id", id, "first"})
		first.Exits(0)
		if first.Result.SessionID != id {
			t.Errorf("session %s, want %s", first.Result.SessionID, id)
		}
		for _, args := range [][]string{{"-p", "--resume", id, "second"}, {"-p", "-c", "third"}, {"--continue", "--print", "fourth"}} {
			r := s.Belay(nil, args)
			r.Exits(0)
			if r.Result.SessionID != id {
				t.Errorf("%q: session %s, want %s", args, r.Result.SessionID, id)
			}
		}
		s.Asked(4)
		if texts := s.LastTold(); len(texts) != 4 {
			t.Errorf("the last request says %q", texts)
		}
	})
}

// A session whose name was given cannot be begun twice: after a failure it goes on.
func TestResume_FixedSession(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "500(x-should-retry=false), 200")
		s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		id := "22222222-2222-4222-8222-222222222222"
		r := s.Belay([]string{"--base-delay", "100ms"}, []string{"-p", "--session-id", id, "say hi"})
		r.Exits(0)
		r.Is("", 2)
		if r.Result.SessionID != id {
			t.Errorf("session %s, want %s", r.Result.SessionID, id)
		}
		s.Asked(2)
		s.ToldOnce("say hi")
	}, "2.0.77")
}

// kill -9 of belay and claude in the middle of a tool: nothing is left, and the session goes on.
func TestResume_AfterKill(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: touch begun; tail -f /dev/null), 200(text="back")`)
		run := s.StartBelay(nil, []string{"-p", "remember plum", "--allowedTools", "Bash"}, nil)
		s.Eventually("the tool runs", func() bool { return s.Has("begun") })
		var claudes []stage.Proc
		for _, p := range s.Left() {
			if strings.Contains(p.Args, "stream-json") && !strings.Contains(p.Args, "belay run") || p.Args == "claude" { // a node that has named itself
				claudes = append(claudes, p)
			}
		}
		if len(claudes) == 0 {
			t.Fatalf("no claude among %v", s.Left())
		}
		run.Cmd.Process.Kill()
		for _, p := range claudes {
			p.Kill()
		}
		if r := run.Wait(); r.Code != 137 {
			t.Errorf("exit code %d", r.Code)
		}
		// The next run ends what the killed one has left, and goes on.
		r := s.Belay([]string{"--resume", "last"}, []string{"-p", "go on"})
		r.Exits(0)
		r.Prints("back\n")
		s.ToldOnce("remember plum", "go on")
		s.Asked(2)
	})
}

// A session never has two writers.
func TestResume_OneWriter(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `200(text="one"), slow(4s), 200(text="three")`)
		first := s.Belay(nil, []string{"-p", "first"})
		first.Exits(0)
		id := first.Result.SessionID
		second := s.StartBelay([]string{"--resume", id}, []string{"-p", "second"}, nil)
		s.Eventually("the second has asked", func() bool { return s.Requests() == 2 })
		third := s.StartBelay([]string{"--resume", id}, []string{"-p", "third"}, nil)
		r2, r3 := second.Wait(), third.Wait()
		r2.Exits(0)
		r3.Exits(0)
		s.Asked(3)
		r3.Says("session")
		s.ToldOnce("first", "second", "third")
		if r := s.Belay([]string{"--resume", id, "--no-wait"}, []string{"-p", "alone"}); r.Code != 0 {
			t.Errorf("the session is still taken: %s", r.Stderr)
		}
	})
}
