//go:build linux

package claude_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
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

// backgrounded is a step in which the model starts a command in the background.
func backgrounded(command string) string {
	input, _ := json.Marshal(map[string]any{"command": command, "description": "x", "run_in_background": true})
	delta, _ := json.Marshal(string(input))
	var b strings.Builder
	for _, e := range []string{
		`{"type":"message_start","message":{"id":"msg_background","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_background","name":"Bash","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":` + string(delta) + `}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":5}}`,
		`{"type":"message_stop"}`,
	} {
		kind, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, e)
	}
	return "200(body=`" + b.String() + "`)"
}

// A command in the background outlasts the first answer. The newest claude waits for it and has another turn; the others
// end it if it takes longer than a moment. Either way stdout is theirs, and nobody is left.
func TestStop_BackgroundTask(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, backgrounded("touch begun; for i in 1 2 3 4; do sleep 1; done; echo over")+`, 200(text="first answer"), 200(text="second answer")`)
		r := s.belay(nil, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.exits(0)
		r.is("", 1)
		if !s.has("begun") {
			t.Error("the command was not run")
		}
		both := r.stdout == "first answer\nsecond answer\n" && s.requests() == 3
		if one := r.stdout == "first answer\n" && s.requests() == 2; !both && (!one || version == clitest.NewestClaude) {
			t.Errorf("%d requests, stdout is %q", s.requests(), r.stdout)
		}
		s.nobodyLeft()
	})
}

// One that does not end keeps the newest claude for as long as it likes: it is not taken for stuck while the task is known
// to run, and a deadline keeps the result that was delivered.
func TestStop_BackgroundTaskWithoutEnd(t *testing.T) {
	t.Parallel()
	if !full {
		t.Skip("only with BELAY_TEST_FULL=1")
	}
	s := newStage(t, "", backgrounded("touch begun; tail -f /dev/null")+`, 200(text="first answer")`)
	run := s.startBelay([]string{"--timeout", "40s"}, []string{"-p", "say hi", "--allowedTools", "Bash"}, nil)
	s.eventually("both have been asked", func() bool { return s.requests() == 2 })
	r := run.wait()
	r.exits(0)
	r.is("", 1)
	r.prints("first answer\n")
	s.asked(2)
	s.nobodyLeft()
}
