//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/test/must"
)

// reader is an agent that answers with what it was given on stdin.
const reader = `#!/bin/sh
touch started
case "$0" in
*codex)
	echo '{"type":"thread.started","thread_id":"0199a213-81c0-7800-8aa1-bbab2a035a53"}'
	echo '{"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"read '$(cat | wc -c)'"}}'
	echo '{"type":"turn.completed","usage":{"input_tokens":3,"cached_input_tokens":0,"output_tokens":4}}' ;;
*)
	id='"session_id":"3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66"'
	echo '{"type":"system","subtype":"init","claude_code_version":"2.1.325","model":"m",'$id'}'
	echo '{"type":"assistant","message":{"id":"m1","model":"m","content":[{"type":"text","text":"hi"}]},'$id'}'
	echo '{"type":"result","subtype":"success","is_error":false,"result":"read '$(cat | wc -c)'","num_turns":1,'$id'}' ;;
esac
`

// The hard deadline bounds the wait for a stdin that does not end: nothing is started, and the exit code is 124. Where there is
// a prompt and nothing comes at all, the agent is started without it.
func TestStdin_Timeout(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args  []string
		given string // that comes on stdin, which then stays open
		env   string
		term  bool // it is sent SIGTERM once it waits
		code  int
		says  string
	}{
		"Nothing":       {args: []string{"--timeout", "1s", "--", "claude", "-p"}, code: 124, says: "stdin did not end within the timeout (1 s), so claude was not started"},
		"Half":          {args: []string{"--timeout", "1s", "--", "claude", "-p", "what is this?"}, given: "half of it", code: 124, says: "stdin did not end within the timeout (1 s)"},
		"Codex":         {args: []string{"--timeout", "1s", "--", "codex", "exec"}, code: 124, says: "so codex was not started"},
		"Environment":   {args: []string{"--", "codex", "exec", "hi"}, given: "half of it", env: "BELAY_TIMEOUT=1s", code: 124, says: "stdin did not end within the timeout (1 s)"},
		"Prompt":        {args: []string{"--timeout", "1s", "--prompt", "-", "--", "claude", "-p"}, given: "half of it", code: 124, says: "the prompt on stdin did not end within the timeout (1 s)"},
		"PromptOfAny":   {args: []string{"--timeout", "1s", "--prompt", "-", "--", "cat"}, code: 124, says: "the prompt on stdin did not end within the timeout (1 s)"},
		"PromptInAll":   {args: []string{"--total-timeout", "1s", "--prompt", "-", "--", "cat"}, code: 124, says: "the prompt on stdin did not end within the total timeout (1 s)"},
		"InAll":         {args: []string{"--total-timeout", "1s", "--", "claude", "-p", "hi"}, given: "half of it", code: 124, says: "total timeout (1 s) has passed"},
		"Terminated":    {args: []string{"--", "claude", "-p", "hi"}, given: "half of it", term: true, code: 143},
		"NotNeeded":     {args: []string{"--timeout", "2900ms", "--", "claude", "-p", "hi"}, code: 0, says: "continuing without it"},
		"NotNeededLong": {args: []string{"--timeout", "50s", "--", "claude", "-p", "hi"}, code: 0, says: "continuing without it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			bin := filepath.Join(r.dir, "agents")
			must.OK(t, os.Mkdir(bin, 0o700))
			for _, agent := range []string{"claude", "codex"} {
				must.OK(t, built.WriteFile(filepath.Join(bin, agent), []byte(reader)))
			}
			r.env = append(r.env, "PATH="+programs(r.t)+":"+bin+":"+os.Getenv("PATH"))
			if tt.env != "" {
				r.env = append(r.env, tt.env)
			}
			cmd := r.command("belay", append([]string{"run", "--result-file", "result.json"}, tt.args...)...)
			stdin, err := cmd.StdinPipe()
			must.OK(t, err)
			defer stdin.Close()
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			must.OK(t, cmd.Start())
			late := time.AfterFunc(testTimeout, func() { cmd.Process.Kill() })
			defer late.Stop()
			io.WriteString(stdin, tt.given)
			if tt.term {
				eventually(t, "it is on record", func() bool { runs, _ := os.ReadDir(filepath.Join(r.dir, "state", "runs")); return len(runs) > 0 })
				cmd.Process.Signal(unix.SIGTERM)
			}
			if code := shellCode(cmd.Wait()); code != tt.code || !strings.Contains(stderr.String(), tt.says) {
				t.Errorf("exit code %d, want %d: %s%s", code, tt.code, &stdout, &stderr)
			}
			if _, err := os.Stat(filepath.Join(r.dir, "started")); (err == nil) != (tt.code == 0) {
				t.Errorf("started: %v", err)
			}
			var result struct {
				Attempts int    `json:"attempts"`
				Code     int    `json:"exit_code"`
				Class    string `json:"error_type"`
			}
			must.OK(t, json.Unmarshal([]byte(r.file("result.json")), &result))
			if result.Code != tt.code || tt.code == 124 && (result.Class != "timeout" || result.Attempts != 0) {
				t.Errorf("%s", r.file("result.json"))
			}
		})
	}
}
