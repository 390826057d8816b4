//go:build linux

package agents_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

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
// end it if it takes longer than a moment. Either way stdout is theirs, and no process is left.
func TestClaude_BackgroundTask(t *testing.T) {
	claude.Each(t, false, func(t *testing.T, version string) {
		s := claude.New(t, version, backgrounded("touch begun; for i in 1 2 3 4; do sleep 1; done; echo over")+`, 200(text="first answer"), 200(text="second answer")`)
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
func TestClaude_BackgroundTaskWithoutEnd(t *testing.T) {
	t.Parallel()
	stage.InFull(t)
	s := claude.New(t, "", backgrounded("touch begun; tail -f /dev/null")+`, 200(text="first answer")`)
	run := s.StartBelay([]string{"--timeout", "40s"}, []string{"-p", "say hi", "--allowedTools", "Bash"}, nil)
	s.Eventually("both have been asked", func() bool { return s.Requests() == 2 })
	r := run.Wait()
	r.Exits(0)
	r.Is("", 1)
	r.Prints("first answer\n")
	s.Asked(2)
	s.NobodyLeft()
}
