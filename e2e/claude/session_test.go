//go:build linux

package claude_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/companion/rehearse"
)

// told is what the user has said in a request, message by message, without what claude adds by itself.
func told(t *testing.T, q rehearse.Request) []string {
	t.Helper()
	var body struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(q.Body, &body); err != nil {
		t.Fatalf("%v in %.300q", err, q.Body)
	}
	var all []string
	for _, m := range body.Messages {
		if m.Role != "user" {
			continue
		}
		var text string
		var blocks []struct{ Text string }
		if json.Unmarshal(m.Content, &text) == nil {
			blocks = append(blocks, struct{ Text string }{text})
		} else {
			json.Unmarshal(m.Content, &blocks)
		}
		for _, b := range blocks {
			if b.Text != "" && !strings.HasPrefix(strings.TrimSpace(b.Text), "<system-reminder>") {
				all = append(all, b.Text)
			}
		}
	}
	return all
}

// count is how many of the messages contain a text.
func count(messages []string, text string) (n int) {
	for _, m := range messages {
		n += strings.Count(m, text)
	}
	return n
}

// onRecord is what belay has on record of a session.
func (s *stage) onRecord(id string) (status string) {
	data, err := os.ReadFile(filepath.Join(s.dir, "state", "sessions", "claude-"+id+".json"))
	if err != nil {
		return err.Error()
	}
	var session struct{ Status string }
	json.Unmarshal(data, &session)
	return session.Status
}

// An overload in the middle of a tool loop: claude itself tries again, and nothing is paid for twice.
func TestToolLoop_Overloaded(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo x >> made", in=100, out=10), overloaded, 200(in=200, out=20)`)
		r := s.belay(nil, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.exits(0)
		r.is("", 1)
		r.prints(answer)
		r.used(300, 30)
		s.asked(3)
		s.wrote("made", "x\n")
	})
}

// The same where claude does not try again by itself: belay goes on with the session. The tool has run once, and the
// prompt is not said again.
func TestToolLoop_Resumed(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo x >> made", in=100, out=10), 500, 200(in=200, out=20)`)
		s.env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		if version == "2.0.77" {
			s.rehearse(`tool(bash: "echo x >> made", in=100, out=10), 500x2, 200(in=200, out=20)`) // it asks once more without a stream
		}
		r := s.belay([]string{"--base-delay", "100ms"}, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.exits(0)
		r.is("", 2)
		r.prints(answer)
		r.used(300, 30)
		if version == "2.0.77" {
			s.asked(4)
		} else {
			s.asked(3)
		}
		s.wrote("made", "x\n")
		all := s.api.Main()
		texts := told(t, all[len(all)-1])
		if count(texts, "say hi") != 1 || count(texts, "Continue where you left off.") != 1 {
			t.Errorf("the last request says %q", texts)
		}
		if !r.result.Resumed || all[0].Session != all[len(all)-1].Session {
			t.Errorf("resumed %v, sessions %q and %q", r.result.Resumed, all[0].Session, all[len(all)-1].Session)
		}
		if s.onRecord(r.result.SessionID) != "done" {
			t.Errorf("the session is on record as %s", s.onRecord(r.result.SessionID))
		}
	})
}

// --resume-prompt and --no-resume-on-retry.
func TestToolLoop_Otherwise(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: echo x >> made), 500(x-should-retry=false), 200`)
		s.env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		r := s.belay([]string{"--base-delay", "100ms", "--resume-prompt", "Onward."}, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.exits(0)
		last := told(t, s.api.Main()[s.requests()-1])
		if count(last, "Onward.") != 1 || count(last, "say hi") != 1 {
			t.Errorf("the last request says %q", last)
		}
		s.rehearse(`tool(bash: echo x >> made), 500(x-should-retry=false), 200`)
		r = s.belay([]string{"--base-delay", "100ms", "--no-resume-on-retry"}, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.exits(0)
		r.is("", 2)
		if last := told(t, s.api.Main()[s.requests()-1]); count(last, "say hi") != 1 || len(last) != 1 || r.result.Resumed {
			t.Errorf("the last request says %q; resumed %v", last, r.result.Resumed)
		}
	}, "2.0.77")
}

// A session can be gone on with, by its id and as the last one of the directory.
func TestResume_Valid(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, `200(text="one", in=100, out=10), 200(text="two", in=100, out=10), 200(text="three", in=100, out=10)`)
		first := s.belay(nil, []string{"-p", "remember pear"})
		first.exits(0)
		id := first.result.SessionID
		second := s.belay([]string{"--resume", id}, []string{"-p", "and now?"})
		second.exits(0)
		second.prints("two\n")
		third := s.belay([]string{"--resume", "last", "--prompt", "and then?"}, []string{"-p"})
		third.exits(0)
		third.prints("three\n")
		s.asked(3)
		texts := told(t, s.api.Main()[2])
		for _, part := range []string{"remember pear", "and now?", "and then?"} {
			if count(texts, part) != 1 {
				t.Errorf("the last request says %q", texts)
			}
		}
		for _, r := range []*ran{second, third} {
			if r.result.SessionID != id || !r.result.Resumed {
				t.Errorf("session %s, resumed %v; want %s", r.result.SessionID, r.result.Resumed, id)
			}
			r.used(100, 10)
			if r.result.Usage.Cost == nil || *r.result.Usage.Cost > *first.result.Usage.Cost*1.5 {
				t.Errorf("each costs the same, but %v after %v", show(r.result.Usage.Cost), show(first.result.Usage.Cost))
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
		r := s.belay([]string{"--resume", nobody}, []string{"-p", "go on"})
		r.exits(1)
		r.is("session_not_found", 1)
		r.prints("")
		r.says("No conversation found with session ID: " + nobody)
		s.asked(0)
	})
}

// Only --resume-or-new begins a new session, and says so.
func TestResume_OrNew(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		r := s.belay([]string{"--resume-or-new", nobody}, []string{"-p", "go on"})
		r.exits(0)
		r.is("", 2)
		r.prints(answer)
		r.says("there is no session " + nobody + " any more; beginning a new one")
		s.asked(1)
		if r.result.SessionID == nobody || r.result.SessionID == "" || r.result.Resumed {
			t.Errorf("%+v", r.result)
		}
		last := s.belay([]string{"--resume-or-new", "last"}, []string{"-p", "go on"})
		last.exits(0)
		if last.result.SessionID != r.result.SessionID || !last.result.Resumed {
			t.Errorf("%+v", last.result)
		}
	})
}

func TestResume_LastOfNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "200")
	r := s.belay([]string{"--resume", "last"}, []string{"-p", "go on"})
	r.exits(2)
	r.says("no session of claude on record for this directory")
	s.asked(0)
	r = s.belay([]string{"--resume-or-new", "last"}, []string{"-p", "go on"})
	r.exits(0)
	s.asked(1)
}

// What the command line itself resumes is claude's own way to do it.
func TestResume_OwnFlags(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		id := "11111111-1111-4111-8111-111111111111"
		first := s.belay(nil, []string{"-p", "--session-id", id, "first"})
		first.exits(0)
		if first.result.SessionID != id {
			t.Errorf("session %s, want %s", first.result.SessionID, id)
		}
		for _, args := range [][]string{{"-p", "--resume", id, "second"}, {"-p", "-c", "third"}, {"--continue", "--print", "fourth"}} {
			r := s.belay(nil, args)
			r.exits(0)
			if r.result.SessionID != id {
				t.Errorf("%q: session %s, want %s", args, r.result.SessionID, id)
			}
		}
		s.asked(4)
		if texts := told(t, s.api.Main()[3]); len(texts) != 4 {
			t.Errorf("the last request says %q", texts)
		}
	})
}

// A session whose name was given cannot be begun twice: after a failure it goes on.
func TestResume_FixedSession(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "500(x-should-retry=false), 200")
		s.env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		id := "22222222-2222-4222-8222-222222222222"
		r := s.belay([]string{"--base-delay", "100ms"}, []string{"-p", "--session-id", id, "say hi"})
		r.exits(0)
		r.is("", 2)
		if r.result.SessionID != id {
			t.Errorf("session %s, want %s", r.result.SessionID, id)
		}
		s.asked(2)
		if texts := told(t, s.api.Main()[1]); count(texts, "say hi") != 1 {
			t.Errorf("the last request says %q", texts)
		}
	}, "2.0.77")
}

// kill -9 of belay and claude in the middle of a tool: nothing is left, and the session goes on.
func TestResume_AfterKill(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: touch begun; tail -f /dev/null), 200(text="back")`)
		run := s.startBelay(nil, []string{"-p", "remember plum", "--allowedTools", "Bash"}, nil)
		s.eventually("the tool runs", func() bool { return s.has("begun") })
		var claudes []proc
		for _, p := range s.left() {
			if strings.Contains(p.args, "stream-json") && !strings.Contains(p.args, "belay run") || p.args == "claude" { // a node that has named itself
				claudes = append(claudes, p)
			}
		}
		if len(claudes) == 0 {
			t.Fatalf("no claude among %v", s.left())
		}
		run.cmd.Process.Kill()
		for _, p := range claudes {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
		if r := run.wait(); r.code != 137 {
			t.Errorf("exit code %d", r.code)
		}
		// The next run ends what the killed one has left, and goes on.
		r := s.belay([]string{"--resume", "last"}, []string{"-p", "go on"})
		r.exits(0)
		r.prints("back\n")
		if texts := told(t, s.api.Main()[s.requests()-1]); count(texts, "remember plum") != 1 || count(texts, "go on") != 1 {
			t.Errorf("the last request says %q", texts)
		}
		s.asked(2)
	})
}

// A session never has two writers.
func TestResume_OneWriter(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `200(text="one"), slow(4s), 200(text="three")`)
		first := s.belay(nil, []string{"-p", "first"})
		first.exits(0)
		id := first.result.SessionID
		second := s.startBelay([]string{"--resume", id}, []string{"-p", "second"}, nil)
		s.eventually("the second has asked", func() bool { return s.requests() == 2 })
		third := s.startBelay([]string{"--resume", id}, []string{"-p", "third"}, nil)
		r2, r3 := second.wait(), third.wait()
		r2.exits(0)
		r3.exits(0)
		s.asked(3)
		r3.says("session")
		if texts := told(t, s.api.Main()[2]); count(texts, "first") != 1 || count(texts, "second") != 1 || count(texts, "third") != 1 {
			t.Errorf("the last request says %q", texts)
		}
		if r := s.belay([]string{"--resume", id, "--no-wait"}, []string{"-p", "alone"}); r.code != 0 {
			t.Errorf("the session is still taken: %s", r.stderr)
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
