//go:build unix

package run_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/command/belay"
	"github.com/belay-run/belay/internal/command/commandtest"
	"github.com/belay-run/belay/internal/test/must"
)

func TestRun_ExitCodes(t *testing.T) {
	commandtest.Place(t)
	commandtest.Script(t, "plain", "exit 0")
	commandtest.Write(t, "data", "not a program", 0o600)
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{"run -- true", 0, ""},
		{"run true", 0, ""},
		{"run -- false", 1, ""},
		{"run -- plain", 0, ""},
		{"run -- sh -c exit_7", 127, ""}, // the shell's own
		{"run --cwd / -- pwd", 0, ""},
		{"run -- nosuchcommand", 127, "nosuchcommand"},
		{"run -- ./data", 126, "data"},
		{"run --cwd missing -- true", 2, "missing"},
		{"run --timeout 50ms -- sleep 60", 124, "sleep exceeded its timeout (0.05 s) and was terminated"},
		{"run --stall-timeout 50ms -- sleep 60", 124, "sleep produced no output for 0.05 s and was terminated"},
		{"run --total-timeout 50ms -- sleep 60", 124, "total timeout"},
		{"run --timeout 50ms --exit-code child -- sleep 60", 143, ""},
		{"run --max-retries 1 --base-delay 0 -- false", 1, "false exited 1; retrying now (retry 1 of 1)"},
		{"run --fail-on nothing --quiet -- false", 1, ""},
	} {
		got := commandtest.Belay(t, strings.Fields(tt.args)...).Ends(tt.code)
		if tt.says != "" {
			got.Says("belay: ", tt.says)
		}
	}
	commandtest.Belay(t, "run", "--", "sh", "-c", "exit 7").Ends(7).Prints().Says()
	commandtest.Belay(t, "run", "--", "sh", "-c", "kill -TERM $$").Ends(143).Prints().Says()
}

// Output, errors and input are the command's.
func TestRun_PassesStreams(t *testing.T) {
	commandtest.Place(t)
	got := commandtest.Call(t, t.Context(), strings.NewReader("what it reads"), "run", "--", "sh", "-c", "cat; echo aside >&2").Ends(0)
	if got.Stdout != "what it reads" || got.Stderr != "aside\n" {
		t.Errorf("%q, %q", got.Stdout, got.Stderr)
	}
	commandtest.Call(t, t.Context(), strings.NewReader("what it reads"), "run", "--no-stdin", "--", "cat").Ends(0).Prints().Says()
	commandtest.Call(t, t.Context(), nil, "run", "--", "cat").Ends(0).Prints().Says()
	// One buffer for both is as good as two.
	var both strings.Builder
	if code := belay.Run(t.Context(), []string{"run", "--", "sh", "-c", "echo out; echo err >&2"}, nil, &both, &both); code != 0 || len(both.String()) != 8 {
		t.Errorf("%d, %q", code, both.String())
	}
}

// A file is not copied: the command has the caller's own descriptor.
func TestRun_HandsFilesOver(t *testing.T) {
	commandtest.Place(t)
	in, err := os.Open(commandtest.Write(t, "in", "first\nsecond\n", 0o600))
	must.OK(t, err)
	defer in.Close()
	out, err := os.Create("out")
	must.OK(t, err)
	defer out.Close()
	// One descriptor has one offset: what the command reads and writes moves ours.
	args := []string{"run", "--", "sh", "-c", "dd bs=1 count=6 2>/dev/null; echo written; [ ! -t 2 ]"}
	if code := belay.Run(t.Context(), args, in, out, out); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if at, _ := in.Seek(0, io.SeekCurrent); at != 6 {
		t.Errorf("the input stands at %d", at)
	}
	if at, _ := out.Seek(0, io.SeekCurrent); at != 14 {
		t.Errorf("the output stands at %d", at)
	}
	if got := commandtest.Read(t, "out"); got != "first\nwritten\n" {
		t.Errorf("%q", got)
	}
}

// result is what programs read of a run.
type result struct {
	Success  bool    `json:"success"`
	Result   string  `json:"result"`
	Error    string  `json:"error"`
	ExitCode int     `json:"exit_code"`
	Attempts int     `json:"attempts"`
	Session  *string `json:"session_id"`
	Class    string  `json:"error_type"`
}

func parsed(t *testing.T, text string) (r result) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	return r
}

func TestRun_OutputFormat(t *testing.T) {
	commandtest.Place(t)
	got := commandtest.Belay(t, "run", "--output-format", "json", "--", "echo", "hello").Ends(0).Says()
	if r := parsed(t, got.Stdout); !r.Success || r.Result != "hello\n" || r.ExitCode != 0 || r.Attempts != 1 || r.Error != "" {
		t.Errorf("%+v", r)
	}
	got = commandtest.Belay(t, "run", "--output-format", "json", "--quiet", "--max-retries", "2", "--base-delay", "0", "--", "sh", "-c", "echo some; echo broken >&2; exit 3").Ends(3)
	if r := parsed(t, got.Stdout); r.Success || r.ExitCode != 3 || r.Attempts != 3 || !strings.Contains(r.Error, "broken") {
		t.Errorf("%+v", r)
	}
	commandtest.Belay(t, "run", "--output-format", "text", "--", "echo", "hello").Ends(0).Prints("Status: SUCCESS\nhello\nDuration: ", "Attempts: 1, waited 0.0s\n")
	commandtest.Belay(t, "run", "--output-format", "text", "--max-retries", "1", "--base-delay", "0", "--", "sh", "-c", "echo broken >&2; exit 3").Ends(3).
		Prints("Status: FAILED\nEarlier: ", "\nError: sh exited 3: broken", "Attempts: 2")
	long := strings.Repeat("ä", 3000)
	commandtest.Belay(t, "run", "--output-format", "text", "--", "echo", long).Ends(0).Prints(strings.Repeat("ä", 2000) + "… (truncated)\n")
}

// A caller that reads results gets one also where nothing was started.
func TestRun_RefusalIsAResult(t *testing.T) {
	commandtest.Place(t)
	for _, tt := range []struct {
		args string
		code int
		text string
	}{
		{"run --output-format json --profile nope -- x", 2, `there is no profile "nope"`},
		{"run --output-format json", 2, "no command given"},
		{"run --output-format json --nonsense -- x", 2, "unknown flag: --nonsense"},
		{"run --output-format json --max-parallel 2 -- x", 2, "needs a gate"},
		{"run --output-format json --cwd missing -- true", 2, "missing"},
	} {
		got := commandtest.Belay(t, strings.Fields(tt.args)...).Ends(tt.code).Says("belay: ", tt.text)
		if r := parsed(t, got.Stdout); r.Success || r.ExitCode != tt.code || !strings.Contains(r.Error, tt.text) || r.Attempts != 0 {
			t.Errorf("%s: %+v", tt.args, r)
		}
	}
	commandtest.Belay(t, "run", "--result-file", "r.json", "--profile", "nope", "--", "x").Ends(2).Prints()
	if r := parsed(t, commandtest.Read(t, "r.json")); r.ExitCode != 2 {
		t.Errorf("%+v", r)
	}
}

func TestRun_ResultFile(t *testing.T) {
	commandtest.Place(t)
	got := commandtest.Belay(t, "run", "--result-file", "r.json", "--", "echo", "hello").Ends(0).Says()
	if r := parsed(t, commandtest.Read(t, "r.json")); got.Stdout != "hello\n" || !r.Success || r.Result != "hello\n" {
		t.Errorf("%q, %+v", got.Stdout, r)
	}
	// What was there is replaced, and a link is written through.
	must.OK(t, os.Symlink("r.json", "link.json"))
	commandtest.Belay(t, "run", "--result-file", "link.json", "--", "false").Ends(1)
	if r := parsed(t, commandtest.Read(t, "r.json")); r.Success || r.ExitCode != 1 {
		t.Errorf("%+v", r)
	}
	if entries, _ := os.ReadDir("."); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
	// In process, the streams are those of the call and not of the process.
	both := commandtest.Belay(t, "run", "--result-file", "/dev/stdout", "--", "echo", "hello").Ends(0).Says()
	if first, rest, _ := strings.Cut(both.Stdout, "\n"); first != "hello" || !parsed(t, rest).Success {
		t.Errorf("%q", both.Stdout)
	}
	if r := parsed(t, commandtest.Belay(t, "run", "--result-file", "/dev/fd/2", "--", "true").Ends(0).Stderr); !r.Success {
		t.Errorf("%+v", r)
	}
	in, err := os.Open("r.json")
	must.OK(t, err)
	defer in.Close()
	commandtest.Belay(t, "run", "--result-file", fmt.Sprintf("/dev/fd/%d", in.Fd()), "--", "true").Ends(2).Says("it is open for reading only")
}

// What is no plain file is written to as it is.
func TestRun_ResultFileIsNoFile(t *testing.T) {
	commandtest.Place(t)
	commandtest.Belay(t, "run", "--result-file", "/dev/null", "--", "true").Ends(0).Says().Prints()
	must.OK(t, syscall.Mkfifo("pipe", 0o600))
	got := make(chan string, 1)
	go func() {
		data, _ := os.ReadFile("pipe")
		got <- string(data)
	}()
	commandtest.Belay(t, "run", "--result-file", "pipe", "--", "echo", "hello").Ends(0).Says()
	if r := parsed(t, <-got); r.Result != "hello\n" {
		t.Errorf("%+v", r)
	}
}

// Of a scope there is one run at a time: the next waits for it, or takes its place.
func TestRun_Scope(t *testing.T) {
	commandtest.Place(t)
	wait := commandtest.Begun(t, t.Context(), "run", "--stream", "--scope", "one", "--", "sh", "-c", "echo ready; until [ -e go ]; do sleep 0.01; done")
	r, w := io.Pipe()
	over := make(chan int, 1)
	go func() {
		over <- belay.Run(t.Context(), []string{"run", "--scope", "one", "--", "true"}, nil, io.Discard, w)
		w.Close()
	}()
	said, err := bufio.NewReader(r).ReadString('\n')
	if err != nil || !strings.Contains(said, "scope one is taken by run ") || !strings.Contains(said, "; waiting for it") {
		t.Errorf("%q, %v", said, err)
	}
	go io.Copy(io.Discard, r)
	commandtest.Write(t, "go", "", 0o600)
	wait().Ends(0)
	if code := <-over; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// An agent that tries again by itself is listened to, and what it waits for is said.
func TestRun_AgentRetriesByItself(t *testing.T) {
	commandtest.Place(t)
	commandtest.Script(t, "claude", `cat <<'END'
{"type":"system","subtype":"init","session_id":"3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66","model":"m","tools":[]}
{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":500,"error_status":529,"error":"overloaded","session_id":"3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66"}
{"type":"result","subtype":"success","is_error":false,"result":"Hello.","session_id":"3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66","total_cost_usd":0.25,"usage":{"input_tokens":1,"output_tokens":1}}
END`)
	commandtest.Belay(t, "run", "--", "claude", "-p", "hi").Ends(0).Says("claude hit an overloaded server; retrying in 500ms\n").Prints("Hello.\n")
}

// flaky is a command that fails so many times, says so on stderr, and then succeeds.
func flaky(t *testing.T, failures int) string {
	return commandtest.Script(t, "flaky", `echo x >> tries
n=$(wc -l < tries)
if [ $n -le `+string(rune('0'+failures))+` ]; then echo "connection reset" >&2; exit 5; fi
echo "done after $n"`)
}

func TestRun_Retries(t *testing.T) {
	commandtest.Place(t)
	flaky(t, 2)
	again := func() { os.Remove("tries") }
	got := commandtest.Belay(t, "run", "--max-retries", "3", "--base-delay", "0", "--", "flaky").Ends(0).Says("belay: flaky hit a network error: connection reset; retrying now (retry 1 of 3)", "(retry 2 of 3)")
	if got.Stdout != "done after 3\n" {
		t.Errorf("%q", got.Stdout)
	}
	again()
	commandtest.Belay(t, "run", "--max-retries", "3", "--base-delay", "0", "--quiet", "--", "flaky").Ends(0).Says().Prints("done after 3\n")
	again()
	commandtest.Belay(t, "run", "--max-retries", "3", "--base-delay", "0", "--verbose", "--", "flaky").Ends(0).
		Says("attempt 1: started flaky as process ", "connection reset\n", "attempt 3: ", "flaky succeeded at attempt 3 after ")
	again()
	commandtest.Belay(t, "run", "--retry-on", "connection reset", "--max-retries", "1", "--base-delay", "0", "--", "flaky").Ends(5).Says("(retry 1 of 1)")
	again()
	commandtest.Belay(t, "run", "--retry-on", "something else", "--max-retries", "3", "--base-delay", "0", "--", "flaky").Ends(5)
	if n := strings.Count(commandtest.Read(t, "tries"), "x"); n != 1 {
		t.Errorf("%d attempts", n)
	}
	again()
	t.Setenv("BELAY_MAX_RETRIES", "3")
	t.Setenv("BELAY_BASE_DELAY", "0")
	t.Setenv("BELAY_MAX_RETIRES", "4")
	commandtest.Belay(t, "run", "--", "flaky").Ends(0).Says("BELAY_MAX_RETIRES is not a setting; did you mean BELAY_MAX_RETRIES?").Prints("done after 3\n")
}

func TestRun_VerboseNamesFlagsThatDoNothing(t *testing.T) {
	commandtest.Place(t)
	commandtest.Belay(t, "run", "--verbose", "--on-busy", "fail", "--retry-timeouts", "1", "--breaker-failures", "2", "--", "true").Ends(0).
		Says("--on-busy has no effect here: there is no --scope",
			"--retry-timeouts has no effect here: there is no --timeout", "--breaker-failures has no effect here: there is no --gate")
}

func TestRun_DryRun(t *testing.T) {
	dir := commandtest.Place(t)
	commandtest.Belay(t, "run", "--dry-run", "--max-retries", "8", "--base-delay", "1s", "--jitter", "none", "--timeout", "5m", "--stall-timeout", "1m", "--gate", "api", "--", "touch", "made").Ends(0).Says().
		Prints(`command:   ["touch" "made"]`, "/touch\n", "profile:   generic\n", "retries:   8, after 1s, 2s, 4s, 8s, 16s, 32s, …; jitter none, ",
			"throttles: ", "A limit that names no time holds the gate for 5s, doubling to 1m\n", "limits:    5m per attempt, 1m without activity\n", "gate:      api, healthy\n", "set:       max-retries = 8 (--max-retries)\n")
	commandtest.Belay(t, "run", "--dry-run", "--", "nosuchcommand").Ends(0).Prints("retries:   none\n", "limits:    none\n", "gate:      none\n", "nosuchcommand")
	commandtest.Script(t, "claude", "exit 1")
	commandtest.Belay(t, "run", "--dry-run", "--resume", "last", "--", "claude", "-p", "hi").Ends(0).
		Prints("profile:   claude\n", "started:   ", "stream-json", "inside:    claude's own retries count", "session:   none on record for this directory\n")
	commandtest.Belay(t, "run", "--dry-run", "--max-retries", "2", "--", "claude", "-p", "--new-option", "hi").Ends(0).Prints("started:   as you wrote it, because belay does not know its option --new-option\n")
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("a dry run has made %v", entries)
	}
	if _, err := os.Stat(os.Getenv("BELAY_STATE_DIR")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a dry run has made a state directory")
	}
}

func TestRun_Prompt(t *testing.T) {
	commandtest.Place(t)
	commandtest.Write(t, "prompt.txt", "from a file", 0o600)
	commandtest.Belay(t, "run", "--prompt", "from a flag", "--", "cat").Ends(0).Says().Prints("from a flag")
	commandtest.Belay(t, "run", "--prompt-file", "prompt.txt", "--", "cat").Ends(0).Says().Prints("from a file")
	commandtest.Call(t, t.Context(), strings.NewReader("from stdin"), "run", "--prompt", "-", "--", "cat").Ends(0).Says().Prints("from stdin")

	r, w := io.Pipe() // it is never written to
	defer w.Close()
	commandtest.Call(t, t.Context(), r, "run", "--prompt", "-", "--timeout", "20ms", "--", "cat").Ends(124).
		Says("the prompt on stdin did not end within the timeout (0.02 s), so nothing was started")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	commandtest.Call(t, ctx, r, "run", "--prompt", "-", "--", "cat").Ends(143).Says("the prompt on stdin was still being read (context canceled), so nothing was started")
	got := commandtest.Call(t, ctx, r, "run", "--prompt", "-", "--output-format", "json", "--", "cat").Ends(143)
	if res := parsed(t, got.Stdout); res.ExitCode != 143 || res.Attempts != 0 {
		t.Errorf("%+v", res)
	}
}

// When the context ends, so does the command with all that it has started, and belay says what a signal would have it say.
func TestRun_EndsWithItsContext(t *testing.T) {
	commandtest.Place(t)
	ctx, cancel := context.WithCancel(t.Context())
	wait := commandtest.Begun(t, ctx, "run", "--stream", "--max-retries", "5", "--result-file", "r.json", "--", "sh", "-c", `trap 'echo ended > trapped; exit 1' TERM; sleep 60 & echo ready; wait`)
	cancel()
	wait().Ends(143)
	if got := commandtest.Read(t, "trapped"); got != "ended\n" {
		t.Errorf("the command was not asked to end: %q", got)
	}
	if r := parsed(t, commandtest.Read(t, "r.json")); r.Success || r.ExitCode != 143 || r.Attempts != 1 {
		t.Errorf("%+v", r)
	}
	// One that has ended before is not even started.
	commandtest.Call(t, ctx, nil, "run", "--", "touch", "made").Ends(143)
	if _, err := os.Stat("made"); err == nil {
		t.Error("it was started")
	}
}

// An agent's session, cost and inner story reach the result; what belay adds to its command line is not seen.
func TestRun_Agent(t *testing.T) {
	commandtest.Place(t)
	commandtest.Script(t, "claude", `cat <<'END'
{"type":"system","subtype":"init","session_id":"3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66","model":"m","tools":[]}
{"type":"result","subtype":"success","is_error":false,"result":"Hello.","session_id":"3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66","total_cost_usd":0.25,"usage":{"input_tokens":1200,"output_tokens":34}}
END`)
	commandtest.Belay(t, "run", "--", "claude", "-p", "hi").Ends(0).Says().Prints("Hello.\n")
	commandtest.Belay(t, "run", "--output-format", "text", "--", "claude", "-p", "hi").Ends(0).
		Prints("Status: SUCCESS\nHello.\n", "Session: 3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66\n", "Tokens: 1,200 input / 34 output\n", "Cost: $0.2500\n")
	commandtest.Belay(t, "run", "--dry-run", "--resume", "last", "--", "claude", "-p", "more").Ends(0).Prints("session:   3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66 continues\n")
	// Also behind a starter, if one says whose it is.
	commandtest.Belay(t, "run", "--dry-run", "--profile", "claude", "--", "env", "A=1", "claude", "-p", "hi").Ends(0).Prints("profile:   claude\n", `"env" "A=1" "claude" "-p"`)
	commandtest.Script(t, "claude", `echo '{"type":"result","subtype":"error","is_error":true,"result":"Invalid API key · Please run /login","session_id":"3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66"}'; exit 1`)
	commandtest.Belay(t, "run", "--", "claude", "-p", "hi").Ends(78).Says("to log in: claude auth login, or set ANTHROPIC_API_KEY")
}

func TestRun_LeavesARecord(t *testing.T) {
	commandtest.Place(t)
	commandtest.Belay(t, "run", "--", "false").Ends(1)
	log := commandtest.Read(t, filepath.Join(os.Getenv("BELAY_STATE_DIR"), "log.jsonl"))
	var entry struct {
		Invocation, Command, Status string
	}
	if err := json.Unmarshal([]byte(log), &entry); err != nil || entry.Command != "false" || entry.Invocation == "" {
		t.Errorf("%v: %s", err, log)
	}
	id := entry.Invocation[len(entry.Invocation)-8:]
	commandtest.Belay(t, "__complete", "log", "").Ends(0).Prints(id + "\tfalse, ")
	if again := commandtest.Belay(t, "__complete", "log", id, "").Ends(0); strings.Contains(again.Stdout, id) {
		t.Errorf("a run that stands there is offered again: %s", again.Stdout)
	}
}
