//go:build linux

package codex_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/companion/rehearse"
	"github.com/belay-run/belay/internal/e2e/stage"
)

// An overload in the middle of a tool loop: codex itself tries again, and nothing is paid for twice.
func TestToolLoop_Overloaded(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo x >> made", in=100, out=10), overloaded, 200(in=200, out=20)`)
		r := s.Belay(nil, work("say hi"))
		r.Exits(0)
		r.Is("", 1)
		r.Prints(answer)
		r.Used(300, 30)
		s.Asked(3)
		s.Wrote("made", "x\n")
	})
}

// The same where codex gives up by itself: belay goes on with the thread. The tool has run once, and the prompt is not said
// again.
func TestToolLoop_Resumed(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo x >> made", in=100, out=10), overloaded-mid, 200(in=200, out=20)`)
		r := s.Belay(soon, work("say hi"))
		r.Exits(0)
		r.Is("", 2)
		r.Prints(answer)
		r.Used(300, 30)
		s.Asked(3)
		s.Wrote("made", "x\n")
		s.ToldOnce("say hi", "Continue where you left off.")
		all := s.API.Main()
		if !r.Result.Resumed || all[0].Session != all[2].Session || r.Result.SessionID != all[2].Session {
			t.Errorf("resumed %v, sessions %q and %q, as told %q", r.Result.Resumed, all[0].Session, all[2].Session, r.Result.SessionID)
		}
		s.OnRecord(r.Result.SessionID, "done")
	})
}

// With --json the caller gets one stream, whole: what the failed attempt has done, and how it went on.
func TestToolLoop_ResumedStream(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo x >> made", in=100, out=10), overloaded-mid, 200(in=200, out=20)`)
		r := s.Belay(soon, work("--json", "say hi"))
		r.Exits(0)
		r.Is("", 2)
		r.Used(300, 30)
		s.Asked(3)
		for text, n := range map[string]int{`"turn.failed"`: 0, `"turn.completed"`: 1, `"type":"command_execution"`: 2, `"type":"agent_message"`: 1} {
			if strings.Count(r.Stdout, text) != n {
				t.Errorf("%s is not there %d times", text, n)
			}
		}
		for line := range strings.Lines(r.Stdout) {
			if !json.Valid([]byte(line)) {
				t.Errorf("no event: %s", line)
			}
		}
	})
}

// --resume-prompt and --no-resume-on-retry.
func TestToolLoop_Otherwise(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		const script = `tool(bash: echo x >> made), overloaded-mid, 200`
		s := newStage(t, version, script)
		r := s.Belay(append([]string{"--resume-prompt", "Onward."}, soon...), work("say hi"))
		r.Exits(0)
		s.ToldOnce("say hi", "Onward.")
		s.Rehearse(script)
		r = s.Belay(append([]string{"--no-resume-on-retry"}, soon...), work("say hi"))
		r.Exits(0)
		r.Is("", 2)
		if last := s.LastTold(); len(last) != 1 || last[0] != "say hi" || r.Result.Resumed {
			t.Errorf("the last request says %q; resumed %v", last, r.Result.Resumed)
		}
	})
}

// A session can be gone on with, by its id and as the last one of the directory. Codex counts the tokens of the whole
// thread; belay those of the call.
func TestResume_Valid(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, `200(text="one", in=100, out=10), 200(text="two", in=100, out=10), 200(text="three", in=100, out=10)`)
		first := s.Belay(nil, ask("remember pear"))
		first.Exits(0)
		id := first.Result.SessionID
		second := s.Belay([]string{"--resume", id}, ask("and now?"))
		second.Exits(0)
		second.Prints("two\n")
		third := s.Belay([]string{"--resume", "last", "--prompt", "and then?"}, ask())
		third.Exits(0)
		third.Prints("three\n")
		s.Asked(3)
		s.ToldOnce("remember pear", "and now?", "and then?")
		for _, r := range []*stage.Ran{first, second, third} {
			if r.Result.SessionID != id || r.Result.Resumed != (r != first) {
				t.Errorf("session %s, resumed %v; want %s", r.Result.SessionID, r.Result.Resumed, id)
			}
			r.Used(100, 10)
		}
	})
}

const nobody = "01a1dc8b-2e9a-7b42-ba45-231e3027132a"

func TestResume_Unknown(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		r := s.Belay([]string{"--resume", nobody}, ask("go on"))
		r.Exits(1)
		r.Is("session_not_found", 1)
		r.Prints("")
		r.Says("no rollout found for thread id " + nobody)
		s.Asked(0)
	})
}

// Only --resume-or-new begins a new session, and says so.
func TestResume_OrNew(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		r := s.Belay([]string{"--resume-or-new", nobody}, ask("go on"))
		r.Exits(0)
		r.Is("", 2)
		r.Prints(answer)
		r.Says("there is no session " + nobody + " any more; beginning a new one")
		s.Asked(1)
		if r.Result.SessionID == nobody || r.Result.SessionID == "" || r.Result.Resumed {
			t.Errorf("%+v", r.Result)
		}
		last := s.Belay([]string{"--resume-or-new", "last"}, ask("go on"))
		last.Exits(0)
		if last.Result.SessionID != r.Result.SessionID || !last.Result.Resumed {
			t.Errorf("%+v", last.Result)
		}
	})
}

func TestResume_LastOfNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "200")
	r := s.Belay([]string{"--resume", "last"}, ask("go on"))
	r.Exits(2)
	r.Prints("")
	r.Says("no session of codex on record for this directory")
	s.Asked(0)
}

// A name that codex does not know is the start of a new thread, with exit 0. As a session to resume it is refused at once;
// in codex's own arguments it has codex's meaning.
func TestResume_Name(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		r := s.Belay([]string{"--resume", "no-such-name"}, ask("go on"))
		r.Exits(2)
		r.Prints("")
		r.Says("no-such-name")
		s.Asked(0)
		r = s.Belay(nil, ask("resume", "no-such-name", "go on"))
		r.Exits(0)
		s.Asked(1)
	})
}

// A thread other than the one that was asked for is no success: its record has another id.
func TestResume_AnotherThread(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		first := s.Belay(nil, ask("first"))
		first.Exits(0)
		// Codex goes by the file's name, and takes what the file says for the thread.
		paths, _ := filepath.Glob(filepath.Join(s.Dir, "api", "home", ".codex", "sessions", "*", "*", "*", "rollout-*"+first.Result.SessionID+".jsonl"))
		if len(paths) != 1 {
			t.Fatalf("%q", paths)
		}
		if err := os.Rename(paths[0], strings.ReplaceAll(paths[0], first.Result.SessionID, nobody)); err != nil {
			t.Fatal(err)
		}
		r := s.Belay([]string{"--resume", nobody}, ask("go on"))
		if r.Result.Success || r.Result.ErrorType != "session_not_found" || r.Code == 0 {
			t.Errorf("exit code %d, %+v", r.Code, r.Result)
		}
	})
}

// What the command line itself resumes is codex's own way to do it.
func TestResume_OwnCommand(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200(in=100, out=10)x*")
		first := s.Belay(nil, ask("first"))
		first.Exits(0)
		id := first.Result.SessionID
		for _, args := range [][]string{ask("resume", id, "second"), ask("resume", "--last", "third"), {"exec", "resume", "--skip-git-repo-check", id, "fourth"}} {
			r := s.Belay(nil, args)
			r.Exits(0)
			r.Used(100, 10)
			if r.Result.SessionID != id {
				t.Errorf("%q: session %s, want %s", args, r.Result.SessionID, id)
			}
		}
		s.Asked(4)
		s.ToldOnce("first", "second", "third", "fourth")
	})
}

// A thread that the command line itself resumes goes on too when an attempt fails.
func TestResume_OwnCommandFails(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `200(in=100, out=10), tool(bash: "echo x >> made", in=100, out=10), overloaded-mid, 200(in=100, out=10)`)
		first := s.Belay(nil, work("first"))
		first.Exits(0)
		r := s.Belay(soon, work("resume", first.Result.SessionID, "second"))
		r.Exits(0)
		r.Is("", 2)
		r.Used(200, 20)
		s.Asked(4)
		s.Wrote("made", "x\n")
		s.ToldOnce("first", "second", "Continue where you left off.")
		if r.Result.SessionID != first.Result.SessionID || !r.Result.Resumed {
			t.Errorf("%+v", r.Result)
		}
	})
}

// A thread that codex was told not to keep cannot be gone on with: it begins anew, and the result says so.
func TestResume_Ephemeral(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo x >> made", in=100, out=10), overloaded-mid, 200(in=100, out=10)`)
		r := s.Belay(soon, work("--ephemeral", "say hi"))
		r.Exits(0)
		r.Prints(answer)
		s.Asked(3)
		if last := s.LastTold(); len(last) != 1 || last[0] != "say hi" || r.Result.Resumed {
			t.Errorf("the last request says %q; resumed %v", last, r.Result.Resumed)
		}
	})
}

// kill -9 of belay and codex in the middle of a tool: nothing is left, and the session goes on. What the killed attempt has
// spent nobody has told belay; the next result holds what the next call has spent.
func TestResume_AfterKill(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "touch begun; sleep 300", in=100, out=10), 200(text="back", in=200, out=20)`)
		run := s.StartBelay(nil, work("remember plum"), nil)
		s.Eventually("the tool runs", func() bool { return s.Has("begun") })
		run.Cmd.Process.Kill()
		killCodex(s) // unless it has died with belay
		if r := run.Wait(); r.Code != 137 {
			t.Errorf("exit code %d", r.Code)
		}
		// The next run ends what the killed one has left, and goes on.
		r := s.Belay([]string{"--resume", "last"}, work("go on"))
		r.Exits(0)
		r.Prints("back\n")
		r.Used(200, 20)
		s.ToldOnce("remember plum", "go on")
		s.Asked(2)
		s.NobodyLeft()
	})
}

// killCodex kills the codex that belay has started, and says how many there were.
func killCodex(s *stage.Stage) (n int) {
	for _, p := range s.Left() {
		if strings.Contains(p.Args, "exec --json") && !strings.Contains(p.Args, "belay run") {
			n++
			p.Kill()
		}
	}
	return n
}

// A session never has two writers.
func TestResume_OneWriter(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `200(text="one"), slow(4s), 200(text="three")`)
		first := s.Belay(nil, ask("first"))
		first.Exits(0)
		id := first.Result.SessionID
		second := s.StartBelay([]string{"--resume", id}, ask("second"), nil)
		s.Eventually("the second has asked", func() bool { return s.Requests() == 2 })
		third := s.StartBelay([]string{"--resume", id}, ask("third"), nil)
		r2, r3 := second.Wait(), third.Wait()
		r2.Exits(0)
		r3.Exits(0)
		s.Asked(3)
		r3.Says("session")
		s.ToldOnce("first", "second", "third")
	})
}

// Who was told to wait tells the others: the next run does not even ask.
func TestGate_Holds(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "usage-limit(resets=3h)x*")
		s.Belay(nil, ask("say hi")).Exits(75)
		r := s.Belay([]string{"--no-wait"}, ask("say hi"))
		r.Exits(75)
		r.Is("usage_limit", 0)
		r.Says("usage_limit of codex", "belay gates reset")
		at, err := time.Parse(time.RFC3339, r.Result.RetryAt)
		if reset := s.API.Main()[0].At.Add(3 * time.Hour); err != nil || at.Sub(reset).Abs() > 2*time.Minute {
			t.Errorf("to be tried again at %q, the limit resets at %v", r.Result.RetryAt, reset)
		}
		s.Asked(1)
		s.Belay([]string{"--no-gate"}, ask("say hi")).Exits(75)
		s.Asked(2)
	})
}

// Over attempts that failed, were stopped and went on, usage is what the API has charged.
func TestUsage_OverAllAttempts(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo 1", in=101, out=11, cache-read=40), overloaded-mid, tool(bash: "echo 2", in=103, out=13), hang, 200(in=107, out=17)`)
		r := s.Belay(append([]string{"--stall-timeout", "15s"}, soon...), work("say hi"))
		r.Exits(0)
		r.Is("", 3)
		s.Asked(5)
		var input, output int
		for _, q := range s.API.Main() {
			if q.End == rehearse.Whole && q.Status == 200 {
				input += q.Usage.Input + q.Usage.CacheRead // codex's input includes what was cached
				output += q.Usage.Output
			}
		}
		r.Used(input, output)
		if input != 351 || output != 41 {
			t.Errorf("the API has charged %d and %d", input, output)
		}
	})
}

// A session that there is not is not found, however it was asked for: codex begins another one without a word.
func TestResume_Nothing(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		lines := [][]string{ask("resume", "no-such-name", "say hi"), ask("resume", "--last", "say hi"), ask("--json", "resume", "no-such-name", "say hi")}
		for i, args := range lines {
			s := newStage(t, version, "200x*")
			r := s.Belay(nil, args)
			r.Exits(1)
			r.Is("session_not_found", 1)
			r.Says("began a new thread")
			if i == 1 { // now there is one
				r = s.Belay(nil, args)
				r.Exits(0)
				r.Is("", 1)
			}
		}
	})
}
