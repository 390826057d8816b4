//go:build linux

package claude_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// Who is interrupted says how to go on, and leaves nobody.
func TestStop_WhileItWaits(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			each(t, sig == syscall.SIGINT, func(t *testing.T, version string) {
				s := newStage(t, version, `tool(bash: "echo made", in=100, out=10), hang`)
				run := s.StartBelay(nil, []string{"-p", "say hi", "--allowedTools", "Bash"}, nil)
				s.Eventually("it waits for the API", func() bool { return s.Requests() == 2 })
				time.Sleep(300 * time.Millisecond)
				run.Signal(sig)
				r := run.Wait()
				r.Exits(128 + int(sig))
				r.Is("interrupted", 1)
				r.Prints("")
				s.OnRecord(r.Result.SessionID, "interrupted")
				r.Says("to go on: belay run --resume " + r.Result.SessionID + " -- claude -p")
				r.Used(100, 10)
				s.NobodyLeft()
				s.Asked(2)
				if !full {
					return
				}
				// And it can be gone on with.
				s.Rehearse("200")
				again := s.Belay([]string{"--resume", r.Result.SessionID}, []string{"-p", "go on"})
				again.Exits(0)
				s.ToldOnce("say hi", "go on")
			})
		})
	}
}

// endless is a tool that does not end, and starts another that leaves its group and session. Claude refuses a mere sleep.
const endless = `touch begun; setsid tail -F /dev/null & tail -f /dev/null`

// A tool is stopped with claude, and what it has started.
func TestStop_WhileAToolRuns(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			each(t, sig == syscall.SIGTERM, func(t *testing.T, version string) {
				s := newStage(t, version, fmt.Sprintf("tool(bash: `%s`)x*", endless))
				run := s.StartBelay(nil, []string{"-p", "say hi", "--allowedTools", "Bash"}, nil)
				s.Eventually("the tool runs", func() bool { return s.Has("begun") && s.Runs("tail -F") && s.Runs("tail -f") })
				run.Signal(sig)
				r := run.Wait()
				r.Exits(128 + int(sig))
				r.Is("interrupted", 1)
				s.NobodyLeft()
				s.Asked(1)
				s.OnRecord(r.Result.SessionID, "interrupted")
			})
		})
	}
}

// So it is for a deadline, which is no reason to try again.
func TestStop_Timeout(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, fmt.Sprintf("tool(bash: `%s`)x*", endless))
		r := s.Belay([]string{"--timeout", "25s"}, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.Exits(124)
		r.Is("timeout", 1)
		r.Says("claude exceeded its timeout (25 s) and was terminated")
		s.NobodyLeft()
		s.Asked(1)
	})
}

// A tool that runs is life, up to its own limit: --stall-timeout counts for it too where the user sets it.
func TestStop_Stall(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "hang x*")
		r := s.Belay([]string{"--stall-timeout", "20s"}, []string{"-p", "say hi"})
		r.Exits(124)
		r.Is("stalled", 2)
		r.Says("claude produced no output for 20 s and was terminated")
		s.Asked(2)
		s.NobodyLeft()
	})
}

// A second signal kills at once.
func TestStop_Twice(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "tool(bash: `touch begun; trap '' INT TERM; tail -f /dev/null`)x*")
		run := s.StartBelay(nil, []string{"-p", "say hi", "--allowedTools", "Bash"}, nil)
		s.Eventually("the tool runs", func() bool { return s.Has("begun") })
		run.Signal(syscall.SIGINT)
		time.Sleep(50 * time.Millisecond)
		run.Signal(syscall.SIGINT)
		r := run.Wait()
		r.Exits(130)
		s.NobodyLeft()
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
		var flags []string
		if stage.UpTo(version, "1.0.128") {
			flags = []string{"--reap"} // it leaves the command behind
		}
		r := s.Belay(flags, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.Exits(0)
		r.Is("", 1)
		if !s.Has("begun") {
			t.Error("the command was not run")
		}
		both := r.Stdout == "first answer\nsecond answer\n" && s.Requests() == 3
		if one := r.Stdout == "first answer\n" && s.Requests() == 2; !both && (!one || !stage.UpTo(version, "2.1.260")) {
			t.Errorf("%d requests, stdout is %q", s.Requests(), r.Stdout)
		}
		s.NobodyLeft()
	})
}

// One that does not end keeps the newest claude for as long as it likes: it is not taken for stuck while the task is known
// to run, and a deadline keeps the result that was delivered.
func TestStop_BackgroundTaskWithoutEnd(t *testing.T) {
	t.Parallel()
	stage.InFull(t)
	s := newStage(t, "", backgrounded("touch begun; tail -f /dev/null")+`, 200(text="first answer")`)
	run := s.StartBelay([]string{"--timeout", "40s"}, []string{"-p", "say hi", "--allowedTools", "Bash"}, nil)
	s.Eventually("both have been asked", func() bool { return s.Requests() == 2 })
	r := run.Wait()
	r.Exits(0)
	r.Is("", 1)
	r.Prints("first answer\n")
	s.Asked(2)
	s.NobodyLeft()
}
