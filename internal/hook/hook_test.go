//go:build linux

package hook_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/boundary"
	"github.com/belay-run/belay/internal/hook"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

const input = `{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf s3cret"}}` + "\n"

// call is a hook that has been called.
type call struct {
	code           int
	stdout, stderr string
	entries        []journal.Entry
	took           time.Duration
}

// pipe is a file that text can be read from once.
func pipe(t *testing.T, text string) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	must.OK(t, err)
	go func() {
		io.WriteString(w, text)
		w.Close()
	}()
	t.Cleanup(func() { r.Close() })
	return r
}

func run(t *testing.T, h *hook.Hook) call {
	t.Helper()
	var c call
	var out, errs bytes.Buffer
	if h.Stdin == nil {
		h.Stdin = pipe(t, input)
	}
	h.Stdout, h.Stderr = &out, &errs
	if h.Record == nil {
		h.Record = func(e journal.Entry) error { c.entries = append(c.entries, e); return nil }
	}
	begin := time.Now()
	c.code = h.Run()
	c.took = time.Since(begin)
	c.stdout, c.stderr = out.String(), errs.String()
	return c
}

func sh(script string) *hook.Hook {
	return &hook.Hook{Args: []string{"/bin/sh", "-c", script}, Timeout: 2 * time.Minute}
}

// What a command decides on purpose passes, byte for byte, and nothing is on record.
func TestRun_DecisionsPass(t *testing.T) {
	for _, c := range []struct {
		script, stdout, stderr string
		code                   int
	}{
		{script: ":"},
		{script: "cat", stdout: input},
		{script: "printf 'plain \\001\\377 text'", stdout: "plain \x01\xff text"},
		{script: "echo '  {\"decision\":\"block\"} '", stdout: "  {\"decision\":\"block\"} \n"},
		{script: "echo no >&2; exit 2", stderr: "no\n", code: 2},
		{script: "printf 'a\\nb' >&2; echo '{broken'; exit 2", stdout: "{broken\n", stderr: "a\nb", code: 2},
		{script: "echo note >&2; echo fine", stdout: "fine\n", stderr: "note\n"},
		{script: "printf '{\"a\":1}\\n{\"b\":2}\\n'", stdout: "{\"a\":1}\n{\"b\":2}\n"},
	} {
		for _, closed := range []bool{false, true} {
			h := sh(c.script)
			h.FailClosed = closed
			got := run(t, h)
			if got.code != c.code || got.stdout != c.stdout || got.stderr != c.stderr || len(got.entries) != 0 {
				t.Errorf("%s: %+v", c.script, got)
			}
		}
	}
}

// What is no decision is on record, and blocks only if that is wanted.
func TestRun_FailuresAreRecorded(t *testing.T) {
	for _, c := range []struct {
		script string
		class  verdict.Class
		text   string
		code   int
		signal string
	}{
		{"echo half; exit 1", verdict.Unknown, "exited 1", 1, ""},
		{"exit 3", verdict.Unknown, "exited 3", 3, ""},
		{"no-such-command", verdict.ToolMissing, "exited 127: command not found", 127, ""},
		{"exit 139", verdict.Crash, "exited 139: a command in it was killed by SIGSEGV", 139, ""},
		{"echo '{\"a\":'", verdict.BadOutput, "printed broken JSON", 0, ""},
		{"kill -9 $$", verdict.Crash, "was killed by SIGKILL", -1, "SIGKILL"},
		{"kill -SEGV $$", verdict.Crash, "was killed by SIGSEGV", -1, "SIGSEGV"},
	} {
		for _, closed := range []bool{false, true} {
			h := sh(c.script)
			h.Name, h.FailClosed = "guard", closed
			got := run(t, h)
			want, words := hook.GoOn, "belay hook: guard "+c.text+"; continuing without it\n"
			if closed {
				want, words = hook.Block, "belay hook: guard "+c.text+"; blocking because of --fail-closed\n"
			}
			if got.code != want || got.stdout != "" || !strings.HasSuffix(got.stderr, words) {
				t.Errorf("%s: %+v", c.script, got)
			}
			if len(got.entries) != 1 {
				t.Fatalf("%s: %d entries", c.script, len(got.entries))
			}
			e := got.entries[0]
			if e.Kind != journal.Hook || e.Event != "PreToolUse" || e.Profile != "hook:guard" || e.Session != "s1" || e.Status != journal.Error ||
				e.ErrorType != c.class || e.Error != c.text || e.ExitCode != c.code || e.Signal != c.signal {
				t.Errorf("%s: on record: %+v", c.script, e)
			}
			detail := fmt.Sprintf(`{"hook_name":"guard","event_action":"Bash","session_key":"s1","error":%q`, c.text)
			if d := string(e.Detail); d != detail+"}" && !(c.code == 127 && strings.HasPrefix(d, detail+`,"stack":"`)) { // the shell says what is missing

				t.Errorf("%s: detail %s", c.script, d)
			}
			if line, _ := json.Marshal(e); bytes.Contains(line, []byte("s3cret")) || bytes.Contains(line, []byte("half")) {
				t.Errorf("%s: input or output is on record: %s", c.script, line)
			}
		}
	}
}

// What a command has said last is on record as its stack: the end of it, without what it quotes of its input and without credentials.
func TestRun_LastWords(t *testing.T) {
	const key = "sk-ant-api03-" + "Zk3vQ9xT1mB7wY5nR2cJ8hL4pD6sF0gA"
	trace := `echo 'Traceback (most recent call last):' >&2; echo '  File "guard.py", line 7, in <module>' >&2; `
	for name, c := range map[string]struct {
		script, want string
		not          []string
	}{
		"Trace":      {trace + "echo 'ValueError: bad thing' >&2; exit 1", "Traceback (most recent call last):\n  File \"guard.py\", line 7, in <module>\nValueError: bad thing", nil},
		"Killed":     {"echo 'panic: out of range' >&2; kill -9 $$", "panic: out of range", nil},
		"Credential": {"echo 'KeyError: " + key + " is wrong' >&2; exit 1", " is wrong", []string{key, key[:20]}},
		"Input":      {"cat >&2; echo 'ValueError: bad thing' >&2; exit 1", "ValueError: bad thing", []string{"Please summarise", "four quarterly"}},
		"Long":       {"i=0; while [ $i -lt 300 ]; do echo \"line $i of it\" >&2; i=$((i+1)); done; echo 'last <&> words' >&2; exit 1", "line 299 of it\nlast <&> words", []string{"line 0 of it"}},
		"OneLine":    {"printf '%010000d' 1 >&2; exit 1", "", nil},
		"Bytes":      {"printf '\\377\\000\\033[31mred' >&2; exit 1", "red", nil},
		"Silent":     {"exit 1", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := sh(c.script)
			h.Stdin = pipe(t, `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"Please summarise the four quarterly reports of the board"}`+"\n")
			got := run(t, h)
			if len(got.entries) != 1 {
				t.Fatalf("%+v", got)
			}
			var detail struct{ Error, Stack string }
			if err := json.Unmarshal(got.entries[0].Detail, &detail); err != nil || !strings.HasSuffix(detail.Stack, c.want) || (c.want == "") != (detail.Stack == "") {
				t.Errorf("%v: stack %q, want %q", err, detail.Stack, c.want)
			}
			for _, text := range c.not {
				if strings.Contains(detail.Stack, text) {
					t.Errorf("%q is on record: %q", text, detail.Stack)
				}
			}
			log := journal.Log{Path: filepath.Join(t.TempDir(), "log.jsonl")}
			must.OK(t, log.Append(got.entries[0]))
			if line, _ := os.ReadFile(log.Path); !bytes.Contains(line, []byte(`"error":"`+detail.Error)) || len(line) > 4096 {
				t.Errorf("%d bytes: %s", len(line), line)
			}
		})
	}
}

// claude obeys a JSON object whatever the exit code is, so a guard that denies and then fails still denies.
func TestRun_DecidesAndFails(t *testing.T) {
	const deny = `{"decision":"block","reason":"no"}`
	for script, code := range map[string]int{"echo '" + deny + "'; exit 1": 1, "echo '" + deny + "'; kill -9 $$": 137} {
		got := run(t, sh(script))
		if got.code != code || got.stdout != deny+"\n" || len(got.entries) != 1 {
			t.Errorf("%s: %+v", script, got)
		}
		closed := sh(script)
		closed.FailClosed = true
		if got := run(t, closed); got.code != hook.Block || len(got.entries) != 1 {
			t.Errorf("%s, closed: %+v", script, got)
		}
	}
}

func TestRun_MissingCommand(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	must.OK(t, os.WriteFile(plain, []byte("x"), 0o600))
	for name, want := range map[string]string{"/no/such/hook": "could not be started: /no/such/hook: command not found", plain: "could not be started: " + plain + " is not executable"} {
		got := run(t, &hook.Hook{Args: []string{name}})
		if got.code != hook.GoOn || len(got.entries) != 1 || got.entries[0].Error != want || got.entries[0].ErrorType != verdict.ToolMissing ||
			got.entries[0].Event != "PreToolUse" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// At its timeout the command is ended with all that it has started, even if it ignores signals or has its own session.
func TestRun_Timeout(t *testing.T) {
	dir := t.TempDir()
	for name, script := range map[string]string{
		"hangs": "echo $$ >> pids; echo '{\"decision\":\"block\"}'; sleep 300",
		"deaf": "echo $$ >> pids; trap '' TERM; setsid sh -c 'echo $$ >> pids; sleep 300' & " +
			"sh -c 'trap \"\" TERM; echo $$ >> pids; sleep 300' & sleep 300; sleep 300",
	} {
		t.Run(name, func(t *testing.T) {
			h := sh("cd " + dir + " && " + script)
			h.Timeout = 500 * time.Millisecond
			got := run(t, h)
			if got.code != hook.GoOn || got.stdout != "" || len(got.entries) != 1 || got.entries[0].ErrorType != verdict.Timeout ||
				got.entries[0].Error != "exceeded its timeout (0.5 s) and was terminated" {
				t.Errorf("%+v", got)
			}
			if got.took > time.Minute {
				t.Errorf("it took %v", got.took)
			}
			pids, _ := os.ReadFile(filepath.Join(dir, "pids"))
			for line := range strings.Lines(string(pids)) {
				var pid int
				fmt.Sscan(line, &pid)
				if alive(pid) {
					t.Errorf("%d still runs", pid)
				}
			}
		})
	}
}

// alive reports whether a process runs. A zombie, which only waits for its parent, does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z ")) && !bytes.Contains(stat, []byte(") X "))
}

// A daemon does not delay the client, and is ended with the hook unless KeepBackground is set.
func TestRun_Daemon(t *testing.T) {
	for _, keep := range []bool{false, true} {
		pidFile := filepath.Join(t.TempDir(), "pid")
		h := sh("setsid sleep 300 & echo $! > " + pidFile + "; echo started")
		h.KeepBackground = keep
		got := run(t, h)
		if got.code != hook.GoOn || got.stdout != "started\n" || len(got.entries) != 0 || got.took > time.Minute {
			t.Errorf("keep %v: %+v", keep, got)
		}
		var pid int
		text, _ := os.ReadFile(pidFile)
		fmt.Sscan(string(text), &pid)
		if runs := alive(pid); runs != keep {
			t.Errorf("keep %v: it runs: %v", keep, runs)
		}
		if keep {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// Much output passes whole; more than the maximum is a failure, and does not block.
func TestRun_MuchOutput(t *testing.T) {
	got := run(t, sh("head -c 10000000 /dev/zero | tr '\\0' x"))
	if got.code != 0 || len(got.stdout) != 10_000_000 || strings.Trim(got.stdout, "x") != "" || len(got.entries) != 0 {
		t.Errorf("exit code %d, %d bytes, %+v", got.code, len(got.stdout), got.entries)
	}
	got = run(t, sh("printf '{\"a\":\"'; head -c 5000000 /dev/zero | tr '\\0' x; printf '\"}'"))
	if got.code != 0 || len(got.stdout) != 5_000_008 || len(got.entries) != 0 {
		t.Errorf("exit code %d, %d bytes, %+v", got.code, len(got.stdout), got.entries)
	}
	got = run(t, sh("printf '{\"a\":\"'; head -c 5000000 /dev/zero | tr '\\0' x"))
	if got.code != 0 || len(got.stdout) != 0 || len(got.entries) != 1 || got.entries[0].ErrorType != verdict.BadOutput {
		t.Errorf("exit code %d, %d bytes, %+v", got.code, len(got.stdout), got.entries)
	}
	got = run(t, sh("head -c 70000000 /dev/zero; echo done >&2"))
	if got.code != 0 || len(got.stdout) != 0 || len(got.entries) != 1 || !strings.HasPrefix(got.stderr, "done\n") {
		t.Errorf("exit code %d, %d bytes, %+v, %q", got.code, len(got.stdout), got.entries, got.stderr)
	}
}

// Exit code 2 blocks, whatever was printed beside it and even if the client does not read stdout.
func TestRun_BlocksAllTheSame(t *testing.T) {
	if got := run(t, sh("head -c 70000000 /dev/zero; echo no >&2; exit 2")); got.code != hook.Block || got.stderr != "no\n" || len(got.entries) != 0 {
		t.Errorf("exit code %d, %d bytes, %q, %+v", got.code, len(got.stdout), got.stderr, got.entries)
	}
	for script, want := range map[string]int{"echo x; exit 2": hook.Block, "echo x": hook.GoOn} {
		h := sh(script)
		h.Stdin, h.Stdout, h.Stderr = pipe(t, input), brokenWriter{}, io.Discard
		if code := h.Run(); code != want {
			t.Errorf("%s: exit code %d, want %d", script, code, want)
		}
	}
	if code := (&hook.Hook{}).Run(); code != hook.GoOn {
		t.Errorf("without a command: exit code %d", code)
	}
}

// brokenWriter is the output of a client that does not read any more.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// What a command prints to tell the client not to wait passes at once.
func TestRun_AnnouncesAsync(t *testing.T) {
	r, w := io.Pipe()
	h := sh(`echo '{"async":true,"asyncTimeout":5000}'; read line < /dev/stdin; sleep 1; echo later`)
	h.Stdin, h.Stdout, h.Stderr = pipe(t, input), w, io.Discard
	code := make(chan int, 1)
	begin := time.Now()
	go func() { code <- h.Run(); w.Close() }()
	first := make([]byte, 100)
	n, _ := r.Read(first)
	if string(first[:n]) != "{\"async\":true,\"asyncTimeout\":5000}\n" || time.Since(begin) > time.Minute {
		t.Errorf("%q", first[:n])
	}
	rest, _ := io.ReadAll(r)
	if string(rest) != "later\n" || <-code != 0 {
		t.Errorf("%q", rest)
	}
}

// Input that the command does not read does no harm, nor does a client that never closes it.
func TestRun_Input(t *testing.T) {
	big := `{"hook_event_name":"PostToolUse","session_id":"s2","tool_response":"` + strings.Repeat("x", 5_000_000) + `"}`
	h := sh("cat | wc -c")
	h.Stdin = pipe(t, big)
	if got := run(t, h); strings.TrimSpace(got.stdout) != fmt.Sprint(len(big)) {
		t.Errorf("%q of %d bytes arrived", got.stdout, len(big))
	}
	h = sh("exit 1")
	h.Stdin = pipe(t, big)
	if got := run(t, h); len(got.entries) != 1 || got.entries[0].Event != "PostToolUse" || got.entries[0].Session != "s2" {
		t.Errorf("%+v", got.entries)
	}
	r, w, _ := os.Pipe()
	defer w.Close()
	io.WriteString(w, input)
	h = sh("read x; echo \"$x\" | head -c 10; exit 1")
	h.Stdin = r
	if got := run(t, h); len(got.entries) != 1 || got.entries[0].Event != "PreToolUse" || got.took > time.Minute {
		t.Errorf("%+v", got)
	}
	name := filepath.Join(t.TempDir(), "event")
	must.OK(t, os.WriteFile(name, []byte(input), 0o600))
	file, _ := os.Open(name)
	defer file.Close()
	h = sh("cat >/dev/null; exit 1")
	h.Stdin = file
	if got := run(t, h); len(got.entries) != 1 || got.entries[0].Event != "PreToolUse" {
		t.Errorf("%+v", got)
	}
}

// A log that cannot be written is said on stderr and changes nothing.
func TestRun_NoRecord(t *testing.T) {
	h := sh("exit 1")
	h.Record = func(journal.Entry) error { return errors.New("the disk is full") }
	if got := run(t, h); got.code != 0 || got.stdout != "" || strings.Count(got.stderr, "the disk is full") != 1 {
		t.Errorf("%+v", got)
	}
}

// If the client gives up, the command is ended, and that is on record as an interruption.
func TestStop(t *testing.T) {
	h := sh("echo up >&2; sleep 300")
	w := &signalWriter{seen: make(chan struct{})}
	h.Stdin, h.Stdout, h.Stderr = pipe(t, input), io.Discard, w
	var entries []journal.Entry
	h.Record = func(e journal.Entry) error { entries = append(entries, e); return nil }
	code := make(chan int)
	go func() { code <- h.Run() }()
	<-w.seen
	h.Stop(syscall.SIGTERM)
	if got := <-code; got != hook.GoOn || len(entries) != 1 || entries[0].ErrorType != verdict.Interrupted {
		t.Errorf("%d, %+v", got, entries)
	}
	early := sh("sleep 300")
	early.Stop(syscall.SIGTERM)
	if got := run(t, early); got.code != hook.GoOn || got.took > time.Minute {
		t.Errorf("%+v", got)
	}
}

// signalWriter says when something was written.
type signalWriter struct {
	once sync.Once
	seen chan struct{}
}

func (w *signalWriter) Write(p []byte) (int, error) {
	w.once.Do(func() { close(w.seen) })
	return len(p), nil
}

// The log takes what boundaries have caught, hooks and tools alike, in lines that are not too long for it.
func TestRecorder(t *testing.T) {
	log := &journal.Log{Path: filepath.Join(t.TempDir(), "log.jsonl")}
	record := hook.Recorder(func(e journal.Entry) {
		if err := log.Append(e); err != nil {
			t.Error(err)
		}
	})
	stack := strings.Repeat("goroutine 1 [running]:\n\t/src/\"file\".go:12 +0x1\n", 500)
	record(boundary.Failure{Kind: boundary.KindHook, Name: "guard", Event: "Stop", Action: "x", Session: "s", Cause: boundary.Panicked, Text: "panic: boom", Stack: stack})
	record(boundary.Failure{Kind: boundary.KindTool, Name: "search", Server: "lab", Cause: boundary.TimedOut, Text: strings.Repeat("ü<>", 2000), Stack: stack,
		Input: boundary.Digest{SHA256: "abc", Size: 12}})
	record(boundary.Failure{Kind: boundary.KindTool, Name: "alone", Cause: boundary.Failed, Text: "no"})
	data, err := os.ReadFile(log.Path)
	must.OK(t, err)
	type entry struct {
		Kind, Event, Profile string
		ErrorType            string `json:"error_type"`
		Detail               map[string]any
	}
	var lines []entry
	for line := range strings.Lines(string(data)) {
		var l entry
		if err := json.Unmarshal([]byte(line), &l); err != nil || len(line) > 4096 {
			t.Fatalf("%v, %d bytes", err, len(line))
		}
		lines = append(lines, l)
	}
	if l := lines[0]; l.Kind != "hook" || l.Event != "Stop" || l.Profile != "hook:guard" || l.ErrorType != "crash" || l.Detail["hook_name"] != "guard" ||
		l.Detail["event_action"] != "x" || l.Detail["session_key"] != "s" || l.Detail["error"] != "panic: boom" || !strings.HasPrefix(fmt.Sprint(l.Detail["stack"]), "goroutine 1") {
		t.Errorf("%+v", l)
	}
	if l := lines[1]; l.Kind != "mcp" || l.Event != "tool_error" || l.Profile != "mcp:lab" || l.ErrorType != "timeout" || l.Detail["tool_name"] != "search" ||
		l.Detail["input_sha256"] != "abc" || l.Detail["input_bytes"] != 12.0 {
		t.Errorf("%+v", l)
	}
	if l := lines[2]; l.Profile != "mcp:alone" || l.ErrorType != "unknown" {
		t.Errorf("%+v", l)
	}
}
