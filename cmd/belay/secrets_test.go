//go:build linux

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/redact/redacttest"
	"github.com/belay-run/belay/internal/test/must"
)

// ways are those that a credential takes.
var ways = []string{"stderr", "error body", "variable", "argument", "prompt", "tool", "mcp", "mcp argument", "alert", "hook", "mcp stderr", "split", "batch"}

// leak is a credential that a command is given or prints.
type leak struct {
	kind   string
	n      int
	text   string // what is printed: the credential, or a place that it stands in
	secret string
}

// sentinel is what stands beside the credential, and shows that the text came to where the credential must not.
func (l *leak) sentinel() string { return fmt.Sprintf("sentinel%d", l.n) }

// line is what is printed, on one line.
func (l *leak) line() string {
	return l.sentinel() + " refused: " + strings.ReplaceAll(l.text, "\n", " ")
}

// leaks draws credentials, of every shape in turn.
func leaks(t *testing.T) (list []*leak) {
	kinds := len(redacttest.Tokens) + len(redacttest.Places)
	count, seed := faulttest.Count(t, "BELAY_TEST_SECRETS", kinds), faulttest.Count(t, "BELAY_TEST_SEED", 1)
	for n := range count {
		m := redacttest.New(uint64(seed + n))
		l := &leak{n: n}
		if kind := n % kinds; kind < len(redacttest.Tokens) {
			shape := redacttest.Tokens[kind]
			l.kind, l.secret = shape.Name, shape.Make(m)
			l.text = l.secret
		} else {
			place := redacttest.Places[kind-len(redacttest.Tokens)]
			l.kind = place.Name
			l.text, l.secret = place.Make(m)
		}
		list = append(list, l)
	}
	return list
}

// No credential comes to rest, whichever way it takes: what a command prints to stderr, the body of an error, what a tool has
// said, a variable, an argument, the prompt, an error or a crash of an MCP server, what a client tells a hook, a task of a batch; nor does it
// reach those whom an alert is sent to. Every byte below the state directory, .logs and the directory of temporary files is
// looked at. BELAY_TEST_SECRETS is how many are tried, BELAY_TEST_SEED which.
func TestSecrets_NeverAtRest(t *testing.T) {
	t.Parallel()
	all := leaks(t)
	s := newSecrets(t)
	calls := map[string][]*leak{}
	for i, l := range all {
		way := ways[(i+i/len(ways))%len(ways)]
		calls[way] = append(calls[way], l)
	}
	var runs sync.WaitGroup
	limit := make(chan struct{}, 2)
	for way, run := range map[string]func(*leak){"stderr": s.stderr, "error body": s.errorBody, "variable": s.variable, "argument": s.argument, "prompt": s.prompt, "tool": s.tool, "alert": s.alert, "hook": s.hook, "split": s.split, "batch": s.batch} {
		runs.Go(func() {
			for _, l := range calls[way] {
				limit <- struct{}{}
				run(l)
				<-limit
			}
		})
	}
	runs.Wait()
	s.server(calls["mcp"], calls["mcp argument"], calls["mcp stderr"])
	s.waiting(all[0])
	said := s.ask()
	s.search(all, said)
}

// secrets is where the commands run.
type secrets struct {
	*run
	inputs string // files that say what is printed; not looked at
	log    string

	mu       sync.Mutex
	payloads bytes.Buffer // of alerts
}

func newSecrets(t *testing.T) *secrets {
	s := &secrets{run: newRun(t, 0), inputs: t.TempDir()}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.payloads.Write(body)
	}))
	t.Cleanup(receiver.Close)
	s.log = filepath.Join(s.dir, "state", "log.jsonl")
	told := filepath.Join(s.dir, "told")
	config := fmt.Sprintf("[alert]\nfailures = 1\nwebhook = %q\ncommand = [\"sh\", \"-c\", %q]\n", receiver.URL, "cat >> '"+told+"'")
	s.put(filepath.Join(s.dir, "config", "belay", "config.toml"), config, 0o600)
	s.play("claude", `begin; [ -z "$TOOL" ] || { call m1 t1 Bash; cat "$TOOL"; }; [ -z "$QUOTED" ] || cat "$QUOTED" >&2; cat "$BODY"; exit 1`)
	return s
}

func (s *secrets) put(path, text string, mode fs.FileMode) string {
	s.t.Helper()
	must.OK(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(s.t, os.WriteFile(path, []byte(text), mode))
	return path
}

// input is a file with what is to be printed.
func (s *secrets) input(l *leak, name, text string) string {
	return s.put(filepath.Join(s.inputs, fmt.Sprintf("%d-%s", l.n, name)), text+"\n", 0o600)
}

// fails runs a command that fails.
func (s *secrets) fails(l *leak, env []string, args ...string) {
	cmd := s.command("belay-plain", args...)
	cmd.Env = append(cmd.Env, env...)
	if out, err := cmd.CombinedOutput(); err == nil {
		s.t.Errorf("%s did not fail: %s", l.kind, out)
	}
}

// once are the flags of a run whose output is read, and which is not repeated.
var once = []string{"run", "--retry-on", "never-printed", "--max-retries", "1", "--base-delay", "0", "--no-gate"}

func (s *secrets) stderr(l *leak) {
	s.fails(l, []string{"TEXT=" + s.input(l, "text", l.line())}, append(once, "--", "sh", "-c", `cat "$TEXT" >&2; exit 1`)...)
}

// split prints it in two writes, the first of which ends within it.
func (s *secrets) split(l *leak) {
	half := strings.Index(l.line(), strings.ReplaceAll(l.secret, "\n", " ")) + len(l.secret)/2
	s.fails(l, []string{"TEXT=" + s.input(l, "text", l.line()), "HALF=" + strconv.Itoa(half)}, append(once, "--", "sh", "-c", `head -c "$HALF" "$TEXT" >&2; tail -c "+$((HALF+1))" "$TEXT" >&2; exit 1`)...)
}

// batch has it in the prompt of a task and on the command line of the batch. Its results are the user's.
func (s *secrets) batch(l *leak) {
	prompt := "Log in to the billing page of Initech with what follows:\n" + l.text
	task, _ := json.Marshal(map[string]string{"id": l.sentinel(), "prompt": prompt})
	tasks := s.input(l, "tasks.jsonl", string(task))
	s.fails(l, []string{s.body(l, l.sentinel()+" refused: "+prompt)}, "batch", "--max-retries", "1", "--base-delay", "0", "--no-gate", tasks, "-o", tasks+".results", "--", "claude", "-p", "--append-system-prompt", l.text)
}

// body is the last line of claude's stream, of a request that was refused.
func (s *secrets) body(l *leak, text string) string {
	quoted, _ := json.Marshal("API Error: 400 {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":" + strconv.Quote(text) + "}}")
	return "BODY=" + s.input(l, "body", `{"type":"result","subtype":"success","is_error":true,"api_error_status":400,"result":`+string(quoted)+
		`,"total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0},"modelUsage":{},"session_id":"`+session(1)+`","uuid":"u"}`)
}

func (s *secrets) claude(l *leak, prompt string, env ...string) {
	s.fails(l, env, append(once[:len(once):len(once)], "--", "claude", "-p", prompt)...)
}

func (s *secrets) errorBody(l *leak) { s.claude(l, "hi there", s.body(l, l.line())) }

// prompt has the credential in a prompt, which the error quotes with all that is in it.
func (s *secrets) prompt(l *leak) {
	prompt := "Log in to the billing page of Initech with what follows:\n" + l.text + "\nand tell me what Ann has paid."
	s.claude(l, prompt, s.body(l, l.sentinel()+" refused: "+prompt))
	if text, _ := os.ReadFile(s.log); bytes.Contains(text, []byte("billing page")) || bytes.Contains(text, []byte("Ann has paid")) {
		s.t.Errorf("the prompt is on record: %.3000s", text)
	}
}

// tool has it in the output of a tool, and on the CLI's stderr.
func (s *secrets) tool(l *leak) {
	quoted, _ := json.Marshal(l.line())
	result := `{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"content":` + string(quoted) + `,"tool_use_id":"t1"}]},"session_id":"` + session(1) + `","uuid":"u"}`
	s.claude(l, "hi there", s.body(l, l.sentinel()+" failed with "+l.text), "TOOL="+s.input(l, "tool", result), "QUOTED="+s.input(l, "quoted", l.line()))
}

// variable has nothing around the credential that would tell what it is, but for the variable's name.
func (s *secrets) variable(l *leak) {
	s.fails(l, []string{"APP_PASSWORD=" + l.secret}, append(once, "--", "sh", "-c", `echo "`+l.sentinel()+` refused: $APP_PASSWORD or ${APP_PASSWORD}x" >&2; exit 1`)...)
}

func (s *secrets) argument(l *leak) {
	s.fails(l, nil, append(once, "--", "sh", "-c", `echo "`+l.sentinel()+` refused: $2 of $*" >&2; exit 1`, "x", "--password", l.secret)...)
}

// alert is a command of its own name, whose first failure raises an alert.
func (s *secrets) alert(l *leak) {
	name := s.put(filepath.Join(s.inputs, fmt.Sprintf("tool%d", l.n)), "#!/bin/sh\ncat \"$TEXT\" >&2; exit 1\n", 0o700)
	s.fails(l, []string{"TEXT=" + s.input(l, "text", l.line())}, append(once, "--", name)...)
}

// hook tells a hook that crashes of a session and a tool with such names, and calls it by one.
func (s *secrets) hook(l *leak) {
	input, _ := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": "3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66", "tool_name": l.sentinel() + " " + l.text, "prompt": l.text, "tool_input": map[string]string{"command": l.text}})
	cmd := s.command("belay-plain", "hook", "--name", l.sentinel()+" "+l.text, "--", "sh", "-c", `cat >&2; exit 7`)
	cmd.Stdin = bytes.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Errorf("%v: %s", err, out)
	}
}

// server is an MCP server whose tools fail: with an error, with one that quotes the arguments, and with a crash.
func (s *secrets) server(failing, quoting, crashing []*leak) {
	s.t.Helper()
	answers := filepath.Join(s.inputs, "answers")
	var requests bytes.Buffer
	ask := func(id int, method string, params any, answer any) {
		data, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		requests.Write(append(data, '\n'))
		data, _ = json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "result": answer})
		s.put(filepath.Join(answers, strconv.Itoa(id)), string(data)+"\n", 0o600)
	}
	failed := func(text string) any {
		return map[string]any{"isError": true, "content": []any{map[string]string{"type": "text", "text": text}}}
	}
	ask(1, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "x", "version": "1"}},
		map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]string{"name": "y", "version": "1"}})
	for _, l := range failing {
		ask(10+l.n, "tools/call", map[string]any{"name": "fetch", "arguments": map[string]string{"x": "y"}}, failed(l.line()))
	}
	for _, l := range quoting {
		ask(10+l.n, "tools/call", map[string]any{"name": "fetch", "arguments": map[string]string{"header": l.text, "password": l.secret}}, failed(l.sentinel()+" refused: "+l.secret))
	}
	s.serve(answers, requests.String())
	for _, l := range crashing { // each ends its server
		requests.Reset()
		ask(1, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "x", "version": "1"}},
			map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "serverInfo": map[string]string{"name": "y", "version": "1"}})
		ask(2, "tools/call", map[string]any{"name": "crash", "arguments": map[string]string{"x": "y"}}, nil)
		s.serve(answers, requests.String(), "CRASH="+s.input(l, "crash", l.line()))
	}
}

// serve runs a server behind belay mcp until it has answered the requests.
func (s *secrets) serve(answers, requests string, env ...string) {
	cmd := s.command("belay-plain", "mcp", "--no-restart", "--", "sh", "-c", `while read -r line; do
		id=$(expr "$line" : '.*"id":\([0-9]*\)')
		case $line in *'"crash"'*) cat "$CRASH" >&2; exit 3 ;; esac
		cat "$ANSWERS/$id"
	done`)
	cmd.Env = append(append(cmd.Env, "ANSWERS="+answers), env...)
	in, err := cmd.StdinPipe()
	must.OK(s.t, err)
	out, err := cmd.StdoutPipe()
	must.OK(s.t, err)
	must.OK(s.t, cmd.Start())
	lines := make(chan string)
	go func() {
		defer close(lines)
		dec := json.NewDecoder(out)
		for {
			var line json.RawMessage
			if dec.Decode(&line) != nil {
				return
			}
			lines <- string(line)
		}
	}()
	for request := range strings.Lines(requests) { // one after the other, as the log has room for
		io.WriteString(in, request)
		if answer, ok := <-lines; !ok {
			s.t.Errorf("no answer to %s", request)
		} else if !strings.Contains(answer, `"id":`) {
			s.t.Errorf("%s is the answer to %s", answer, request)
		}
	}
	in.Close()
	for range lines {
	}
	cmd.Wait()
}

// waiting is killed while it waits after a failure: its record says why, until it is found.
func (s *secrets) waiting(l *leak) {
	s.t.Helper()
	cmd := s.command("belay-plain", "run", "--retry-on", "refused", "--max-retries", "3", "--base-delay", "10m", "--max-delay", "10m", "--max-wait", "1h", "--no-gate", "--", "sh", "-c", `cat "$TEXT" >&2; exit 1`)
	cmd.Env = append(cmd.Env, "TEXT="+s.input(l, "text", l.line()))
	must.OK(s.t, cmd.Start())
	var record []byte
	if !within(testTimeout, func() bool {
		for _, path := range files(filepath.Join(s.dir, "state", "runs")) {
			if record, _ = os.ReadFile(path); bytes.Contains(record, []byte(l.sentinel())) {
				return true
			}
		}
		return false
	}) {
		s.t.Errorf("it does not wait: %s", record)
	}
	if bytes.Contains(record, []byte(l.secret)) {
		s.t.Errorf("in the record: %s", record)
	}
	cmd.Process.Kill()
	cmd.Wait()
}

// files are those below a directory.
func files(dir string) (list []string) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return nil
	})
	return list
}

// ask asks all that there is to be asked: alerts are delivered, and the log is folded into the database.
func (s *secrets) ask() (said []byte) {
	for _, args := range [][]string{{"alerts", "-n", "0"}, {"events", "--json", "-n", "0"}, {"log", "--json"}, {"audit", "--json", "-n", "0"}, {"sessions", "--json"}, {"ps", "--json"}, {"doctor"}} {
		out, _ := s.command("belay-plain", args...).CombinedOutput()
		said = append(said, out...)
	}
	return said
}

// search looks for the credentials in every byte that is at rest or was sent.
func (s *secrets) search(all []*leak, said []byte) {
	s.t.Helper()
	s.mu.Lock()
	sent := s.payloads.Bytes()
	s.mu.Unlock()
	everything := map[string][]byte{"what belay shows": said, "the payloads of alerts": sent}
	for _, path := range files(s.dir) {
		name, _ := filepath.Rel(s.dir, path)
		if top, _, _ := strings.Cut(name, "/"); top == "players" || top == "plays" || top == "config" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			s.t.Error(err)
		}
		everything[name] = data
	}
	for name, want := range map[string]bool{"state/log.jsonl": true, "state/observability.sqlite": true, ".logs/claude_invocations.jsonl": true, "told": true, "the payloads of alerts": true} {
		if (len(everything[name]) > 0) != want {
			s.t.Errorf("%s has %d bytes", name, len(everything[name]))
		}
	}
	found, unseen := 0, 0
	for _, l := range all {
		if !bytes.Contains(everything["state/log.jsonl"], []byte(l.sentinel())) {
			unseen++
			s.t.Errorf("%d (%s): what it said did not get into the log", l.n, l.kind)
		}
		for name, data := range everything {
			for _, form := range l.forms() {
				if at := bytes.Index(data, []byte(form)); at >= 0 {
					found++
					s.t.Errorf("%d (%s), %q is in %s: …%q…", l.n, l.kind, form, name, data[max(0, at-150):min(len(data), at+len(form)+50)])
				}
			}
		}
	}
	s.t.Logf("tried %d secrets of %d shapes on %d ways through belay: %d found in %d files and payloads", len(all), len(redacttest.Tokens)+len(redacttest.Places), len(ways), found, len(everything))
	if unseen > 0 {
		s.t.Errorf("%d texts did not get to where they could be found", unseen)
	}
}

// forms are how a credential is written: as it is, in JSON, in a URL, in base64, and the end of a long one.
func (l *leak) forms() []string {
	quoted, _ := json.Marshal(l.secret)
	list := []string{l.secret, string(quoted[1 : len(quoted)-1]), url.QueryEscape(l.secret), strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(l.secret)), "=")}
	if len(l.secret) >= 32 {
		list = append(list, l.secret[len(l.secret)-16:])
	}
	return list
}
