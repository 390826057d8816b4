//go:build linux

package codex_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/companion/rehearse"
)

// told is what the user has said in a request, message by message, without what codex adds by itself.
func told(t *testing.T, q rehearse.Request) []string {
	t.Helper()
	var body struct {
		Input []struct {
			Role    string
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(q.Body, &body); err != nil {
		t.Fatalf("%v in %.300q", err, q.Body)
	}
	var all []string
	for _, item := range body.Input {
		for _, part := range item.Content {
			if item.Role == "user" && part.Text != "" && !strings.HasPrefix(part.Text, "<") {
				all = append(all, part.Text)
			}
		}
	}
	return all
}

// lastTold is what the user has said in the last request.
func (s *stage) lastTold() []string {
	s.t.Helper()
	all := s.api.Main()
	if len(all) == 0 {
		s.t.Fatal("nothing was asked")
	}
	return told(s.t, all[len(all)-1])
}

// count is how often the messages contain a text.
func count(messages []string, text string) (n int) {
	for _, m := range messages {
		n += strings.Count(m, text)
	}
	return n
}

// once checks that each of the texts stands in the messages once.
func once(t *testing.T, messages []string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if count(messages, text) != 1 {
			t.Errorf("%q is not there once: %.1000q", text, messages)
		}
	}
}

// onRecord is what belay has on record of a session.
func (s *stage) onRecord(id string) (status string) {
	data, err := os.ReadFile(filepath.Join(s.dir, "state", "sessions", "codex-"+id+".json"))
	if err != nil {
		return err.Error()
	}
	var session struct{ Status string }
	json.Unmarshal(data, &session)
	return session.Status
}

// An overload in the middle of a tool loop: codex itself tries again, and nothing is paid for twice.
func TestToolLoop_Overloaded(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo x >> made", in=100, out=10), overloaded, 200(in=200, out=20)`)
		r := s.belay(nil, work("say hi"))
		r.exits(0)
		r.is("", 1)
		r.prints(answer)
		r.used(300, 30)
		s.asked(3)
		s.wrote("made", "x\n")
	})
}

// The same where codex gives up by itself: belay goes on with the thread. The tool has run once, and the prompt is not said
// again.
func TestToolLoop_Resumed(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo x >> made", in=100, out=10), overloaded-mid, 200(in=200, out=20)`)
		r := s.belay(soon, work("say hi"))
		r.exits(0)
		r.is("", 2)
		r.prints(answer)
		r.used(300, 30)
		s.asked(3)
		s.wrote("made", "x\n")
		once(t, s.lastTold(), "say hi", "Continue where you left off.")
		all := s.api.Main()
		if !r.result.Resumed || all[0].Session != all[2].Session || r.result.SessionID != all[2].Session {
			t.Errorf("resumed %v, sessions %q and %q, as told %q", r.result.Resumed, all[0].Session, all[2].Session, r.result.SessionID)
		}
		if got := s.onRecord(r.result.SessionID); got != "done" {
			t.Errorf("the session is on record as %s", got)
		}
	})
}

// With --json the caller gets one stream, whole: what the failed attempt has done, and how it went on.
func TestToolLoop_ResumedStream(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo x >> made", in=100, out=10), overloaded-mid, 200(in=200, out=20)`)
		r := s.belay(soon, work("--json", "say hi"))
		r.exits(0)
		r.is("", 2)
		r.used(300, 30)
		s.asked(3)
		for text, n := range map[string]int{`"turn.failed"`: 0, `"turn.completed"`: 1, `"type":"command_execution"`: 2, `"type":"agent_message"`: 1} {
			if strings.Count(r.stdout, text) != n {
				t.Errorf("%s is not there %d times", text, n)
			}
		}
		for line := range strings.Lines(r.stdout) {
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
		r := s.belay(append([]string{"--resume-prompt", "Onward."}, soon...), work("say hi"))
		r.exits(0)
		once(t, s.lastTold(), "say hi", "Onward.")
		s.rehearse(script)
		r = s.belay(append([]string{"--no-resume-on-retry"}, soon...), work("say hi"))
		r.exits(0)
		r.is("", 2)
		if last := s.lastTold(); len(last) != 1 || last[0] != "say hi" || r.result.Resumed {
			t.Errorf("the last request says %q; resumed %v", last, r.result.Resumed)
		}
	})
}

// A session can be gone on with, by its id and as the last one of the directory. Codex counts the tokens of the whole
// thread; belay those of the call.
func TestResume_Valid(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, `200(text="one", in=100, out=10), 200(text="two", in=100, out=10), 200(text="three", in=100, out=10)`)
		first := s.belay(nil, ask("remember pear"))
		first.exits(0)
		id := first.result.SessionID
		second := s.belay([]string{"--resume", id}, ask("and now?"))
		second.exits(0)
		second.prints("two\n")
		third := s.belay([]string{"--resume", "last", "--prompt", "and then?"}, ask())
		third.exits(0)
		third.prints("three\n")
		s.asked(3)
		once(t, s.lastTold(), "remember pear", "and now?", "and then?")
		for _, r := range []*ran{first, second, third} {
			if r.result.SessionID != id || r.result.Resumed != (r != first) {
				t.Errorf("session %s, resumed %v; want %s", r.result.SessionID, r.result.Resumed, id)
			}
			r.used(100, 10)
		}
	})
}

const nobody = "01a1dc8b-2e9a-7b42-ba45-231e3027132a"

func TestResume_Unknown(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		r := s.belay([]string{"--resume", nobody}, ask("go on"))
		r.exits(1)
		r.is("session_not_found", 1)
		r.prints("")
		r.says("no rollout found for thread id " + nobody)
		s.asked(0)
	})
}

// Only --resume-or-new begins a new session, and says so.
func TestResume_OrNew(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		r := s.belay([]string{"--resume-or-new", nobody}, ask("go on"))
		r.exits(0)
		r.is("", 2)
		r.prints(answer)
		r.says("there is no session " + nobody + " any more; beginning a new one")
		s.asked(1)
		if r.result.SessionID == nobody || r.result.SessionID == "" || r.result.Resumed {
			t.Errorf("%+v", r.result)
		}
		last := s.belay([]string{"--resume-or-new", "last"}, ask("go on"))
		last.exits(0)
		if last.result.SessionID != r.result.SessionID || !last.result.Resumed {
			t.Errorf("%+v", last.result)
		}
	})
}

func TestResume_LastOfNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "200")
	r := s.belay([]string{"--resume", "last"}, ask("go on"))
	r.exits(2)
	r.prints("")
	r.says("no session of codex on record for this directory")
	s.asked(0)
}

// A name that codex does not know is the start of a new thread, with exit 0. As a session to resume it is refused at once;
// in codex's own arguments it has codex's meaning.
func TestResume_Name(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		r := s.belay([]string{"--resume", "no-such-name"}, ask("go on"))
		r.exits(2)
		r.prints("")
		r.says("no-such-name")
		s.asked(0)
		r = s.belay(nil, ask("resume", "no-such-name", "go on"))
		r.exits(0)
		s.asked(1)
	})
}

// A thread other than the one that was asked for is no success: its record has another id.
func TestResume_AnotherThread(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		first := s.belay(nil, ask("first"))
		first.exits(0)
		// Codex goes by the file's name, and takes what the file says for the thread.
		paths, _ := filepath.Glob(filepath.Join(s.dir, "api", "home", ".codex", "sessions", "*", "*", "*", "rollout-*"+first.result.SessionID+".jsonl"))
		if len(paths) != 1 {
			t.Fatalf("%q", paths)
		}
		if err := os.Rename(paths[0], strings.ReplaceAll(paths[0], first.result.SessionID, nobody)); err != nil {
			t.Fatal(err)
		}
		r := s.belay([]string{"--resume", nobody}, ask("go on"))
		if r.result.Success || r.result.ErrorType != "session_not_found" || r.code == 0 {
			t.Errorf("exit code %d, %+v", r.code, r.result)
		}
	})
}

// What the command line itself resumes is codex's own way to do it.
func TestResume_OwnCommand(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200(in=100, out=10)x*")
		first := s.belay(nil, ask("first"))
		first.exits(0)
		id := first.result.SessionID
		for _, args := range [][]string{ask("resume", id, "second"), ask("resume", "--last", "third"), {"exec", "resume", "--skip-git-repo-check", id, "fourth"}} {
			r := s.belay(nil, args)
			r.exits(0)
			r.used(100, 10)
			if r.result.SessionID != id {
				t.Errorf("%q: session %s, want %s", args, r.result.SessionID, id)
			}
		}
		s.asked(4)
		once(t, s.lastTold(), "first", "second", "third", "fourth")
	})
}

// A thread that the command line itself resumes goes on too when an attempt fails.
func TestResume_OwnCommandFails(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `200(in=100, out=10), tool(bash: "echo x >> made", in=100, out=10), overloaded-mid, 200(in=100, out=10)`)
		first := s.belay(nil, work("first"))
		first.exits(0)
		r := s.belay(soon, work("resume", first.result.SessionID, "second"))
		r.exits(0)
		r.is("", 2)
		r.used(200, 20)
		s.asked(4)
		s.wrote("made", "x\n")
		once(t, s.lastTold(), "first", "second", "Continue where you left off.")
		if r.result.SessionID != first.result.SessionID || !r.result.Resumed {
			t.Errorf("%+v", r.result)
		}
	})
}

// A thread that codex was told not to keep cannot be gone on with: it begins anew, and the result says so.
func TestResume_Ephemeral(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo x >> made", in=100, out=10), overloaded-mid, 200(in=100, out=10)`)
		r := s.belay(soon, work("--ephemeral", "say hi"))
		r.exits(0)
		r.prints(answer)
		s.asked(3)
		if last := s.lastTold(); len(last) != 1 || last[0] != "say hi" || r.result.Resumed {
			t.Errorf("the last request says %q; resumed %v", last, r.result.Resumed)
		}
	})
}

// kill -9 of belay and codex in the middle of a tool: nothing is left, and the session goes on. What the killed attempt has
// spent nobody has told belay; the next result holds what the next call has spent.
func TestResume_AfterKill(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "touch begun; sleep 300", in=100, out=10), 200(text="back", in=200, out=20)`)
		run := s.startBelay(nil, work("remember plum"), nil)
		s.eventually("the tool runs", func() bool { return s.has("begun") })
		run.cmd.Process.Kill()
		s.killCodex() // unless it has died with belay
		if r := run.wait(); r.code != 137 {
			t.Errorf("exit code %d", r.code)
		}
		// The next run ends what the killed one has left, and goes on.
		r := s.belay([]string{"--resume", "last"}, work("go on"))
		r.exits(0)
		r.prints("back\n")
		r.used(200, 20)
		once(t, s.lastTold(), "remember plum", "go on")
		s.asked(2)
		s.nobodyLeft()
	})
}

// killCodex kills the codex that belay has started, and says how many there were.
func (s *stage) killCodex() (n int) {
	for _, p := range s.left() {
		if strings.Contains(p.args, "exec --json") && !strings.Contains(p.args, "belay run") {
			n++
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
	return n
}

// A session never has two writers.
func TestResume_OneWriter(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `200(text="one"), slow(4s), 200(text="three")`)
		first := s.belay(nil, ask("first"))
		first.exits(0)
		id := first.result.SessionID
		second := s.startBelay([]string{"--resume", id}, ask("second"), nil)
		s.eventually("the second has asked", func() bool { return s.requests() == 2 })
		third := s.startBelay([]string{"--resume", id}, ask("third"), nil)
		r2, r3 := second.wait(), third.wait()
		r2.exits(0)
		r3.exits(0)
		s.asked(3)
		r3.says("session")
		once(t, s.lastTold(), "first", "second", "third")
	})
}

// Who was told to wait tells the others: the next run does not even ask.
func TestGate_Holds(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "usage-limit(resets=3h)x*")
		s.belay(nil, ask("say hi")).exits(75)
		r := s.belay([]string{"--no-wait"}, ask("say hi"))
		r.exits(75)
		r.is("rate_limit", 0)
		r.says("usage_limit of codex", "belay gates reset")
		at, err := time.Parse(time.RFC3339, r.result.RetryAt)
		if reset := s.api.Main()[0].At.Add(3 * time.Hour); err != nil || at.Sub(reset).Abs() > 2*time.Minute {
			t.Errorf("to be tried again at %q, the limit resets at %v", r.result.RetryAt, reset)
		}
		s.asked(1)
		s.belay([]string{"--no-gate"}, ask("say hi")).exits(75)
		s.asked(2)
	})
}

// Over attempts that failed, were stopped and went on, usage is what the API has charged.
func TestUsage_OverAllAttempts(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo 1", in=101, out=11, cache-read=40), overloaded-mid, tool(bash: "echo 2", in=103, out=13), hang, 200(in=107, out=17)`)
		r := s.belay(append([]string{"--stall-timeout", "15s"}, soon...), work("say hi"))
		r.exits(0)
		r.is("", 3)
		s.asked(5)
		var input, output int
		for _, q := range s.api.Main() {
			if q.End == rehearse.Whole && q.Status == 200 {
				input += q.Usage.Input + q.Usage.CacheRead // codex's input includes what was cached
				output += q.Usage.Output
			}
		}
		r.used(input, output)
		if input != 351 || output != 41 {
			t.Errorf("the API has charged %d and %d", input, output)
		}
	})
}

// wrote checks a file that a tool has made.
func (s *stage) wrote(name, want string) {
	s.t.Helper()
	if got, err := os.ReadFile(filepath.Join(s.work, name)); err != nil || string(got) != want {
		s.t.Errorf("%s: %q, %v", name, got, err)
	}
}

// has reports whether a file is in the working directory.
func (s *stage) has(name string) bool {
	_, err := os.Stat(filepath.Join(s.work, name))
	return err == nil
}

var isUUID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString
