//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/test/must"
)

// players are agents that play a part: at its nth start each plays the nth act, and after the last one that one again. An act
// is a shell script in these words.
var players = map[string]string{
	"claude": `
line() { printf '{%s,"session_id":"%s","uuid":"u"}\n' "$1" "$SESSION"; }
begin() { line '"type":"system","subtype":"init","claude_code_version":"2.1.325","model":"model-x"'; }
speak() { line '"type":"stream_event","event":{"type":"message_start","message":{"id":"'$1'","usage":{"input_tokens":'$2',"output_tokens":1}}}'; }
spoken() { line '"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":'$1'}}'; }
call() { line '"type":"assistant","message":{"id":"'$1'","content":[{"type":"tool_use","id":"'$2'","name":"'$3'","input":{"x":"secret"}}]}'; }
answer() { line '"type":"user","message":{"content":[{"type":"tool_result","content":"secret","tool_use_id":"'$1'"}]}'; }
turn() { speak m$1 $2; spoken $3; call m$1 t$1 Bash; answer t$1; }
# result COST IN OUT ALL_IN ALL_OUT
result() { line '"type":"result","subtype":"success","is_error":false,"result":"done","num_turns":1,"total_cost_usd":'$1',"usage":{"input_tokens":'$2',"output_tokens":'$3'},"modelUsage":{"model-x":{"inputTokens":'$4',"outputTokens":'$5'}}'; }
fail() { line '"type":"result","subtype":"success","is_error":true,"api_error_status":'$1',"result":"API Error: '$1'","total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0},"modelUsage":{}'; exit 1; }
`,
	"codex": `
begin() { echo '{"type":"thread.started","thread_id":"'$SESSION'"}'; echo '{"type":"turn.started"}'; }
result() {
	echo '{"type":"item.completed","item":{"id":"last","type":"agent_message","text":"done"}}'
	echo '{"type":"turn.completed","usage":{"input_tokens":'$1',"cached_input_tokens":0,"output_tokens":'$2'}}'
}
`,
}

// stage is how every one of them begins. hang waits to be killed, by the stall limit or by the process that started it.
const stage = `#!/bin/sh
n=$(($(cat "$PLAY/$NAME.n" 2>/dev/null || echo 0) + 1))
START=$n
echo $n > "$PLAY/$NAME.n"
SESSION=0199a213-81c0-7800-8aa1-bbab2a035a0$n
case "$*" in *resume*) SESSION=$(echo "$*" | grep -oE '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' | tail -1) ;; esac
hang() { trap 'exit 0' INT TERM; while :; do sleep 0.1; done; }
while [ ! -e "$PLAY/$NAME.$n" ]; do n=$((n - 1)); done
`

// session is the one that a player begins at its nth start.
func session(n int) string { return "0199a213-81c0-7800-8aa1-bbab2a035a0" + strconv.Itoa(n) }

// play puts an agent on the run's PATH that plays these acts.
func (r *run) play(name string, acts ...string) {
	r.t.Helper()
	r.env = append(r.env, stagePlay(r.t, r.dir, name, acts...)...)
}

// stagePlay makes an agent that plays these acts, and returns the variables with which it is found.
func stagePlay(t *testing.T, dir, name string, acts ...string) (env []string) {
	t.Helper()
	bin, plays := filepath.Join(dir, "players"), filepath.Join(dir, "plays")
	for _, dir := range []string{bin, plays} {
		must.OK(t, os.MkdirAll(dir, 0o700))
	}
	script := strings.Replace(stage, "\n", "\nNAME="+name+"\n", 1) + players[name] + `. "$PLAY/$NAME.$n"` + "\n"
	must.OK(t, built.WriteFile(filepath.Join(bin, name), []byte(script)))
	os.Remove(filepath.Join(plays, name+".n"))
	for i, act := range acts {
		must.OK(t, os.WriteFile(filepath.Join(plays, name+"."+strconv.Itoa(i+1)), []byte(act+"\n"), 0o600))
	}
	return []string{"PLAY=" + plays, "PATH=" + programs(t) + ":" + bin + ":" + os.Getenv("PATH")}
}

// report is what a result file says.
type report struct {
	ID             string
	Success        bool
	ErrorType      *string `json:"error_type"`
	Session        *string `json:"session_id"`
	Attempts       int
	ExitCode       int `json:"exit_code"`
	code           int // that belay has really ended with
	stdout, stderr string
}

// belay runs belay run with these arguments, and returns what it says of it.
func (r *run) belay(args ...string) (o report) {
	r.t.Helper()
	f, err := os.CreateTemp(r.dir, "result-*")
	must.OK(r.t, err)
	f.Close()
	cmd := r.command("belay", append([]string{"run", "--result-file", f.Name()}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	code := shellCode(cmd.Run())
	data, err := os.ReadFile(f.Name())
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err != nil {
		r.t.Fatalf("%q: exit code %d, %v\n%s%s", args, code, err, data, stderr.String())
	}
	o.code, o.stdout, o.stderr = code, stdout.String(), stderr.String()
	return o
}

// says is what a command says.
func (r *run) says(args ...string) string {
	r.t.Helper()
	out, err := r.command("belay-plain", args...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("%q: %v: %s", args, err, out)
	}
	return string(out)
}

// The flags of a run that repeats at once, and takes a silence of a second or two for a stall.
var soon = []string{"--base-delay", "0", "--no-gate", "--stall-timeout", "2s"}

// first are the arguments of a run of claude or codex.
func first(name string, flags ...string) []string {
	args := slices.Concat(soon, flags, []string{"--", name})
	if name == "codex" {
		return append(args, "exec", "hi")
	}
	return append(args, "-p", "hi")
}
