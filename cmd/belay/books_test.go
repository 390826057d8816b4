//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/belay-run/belay/internal/companion/db"
	"github.com/belay-run/belay/internal/journal"
)

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

// errors holds every error, the last one included; after a success those before it.
func TestResult_Errors(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	for name, tt := range map[string]struct {
		act  string
		n    int // errors
		code int
	}{
		"401": {"begin; fail 401", 1, 78},
		"429": {"begin; fail 429", 3, 75},
		"400": {"begin; fail 400", 1, 1},
		"500": {"[ $START -gt 1 ] || { begin; fail 500; }; begin; result 0.1 1 1 1 1", 1, 0},
	} {
		r.play("claude", tt.act)
		o := r.belay(append([]string{"--max-retries", "2"}, first("claude")...)...)
		if len(o.Errors) != tt.n || o.code != tt.code || o.ExitCode != tt.code {
			t.Errorf("%s: exit code %d, %q", name, o.code, o.Errors)
		}
		if tt.code != 0 && (o.Error == nil || len(o.Errors) == 0 || o.Errors[len(o.Errors)-1] != *o.Error) {
			t.Errorf("%s: the last of %q is not %v", name, o.Errors, o.Error)
		}
		for _, e := range o.Errors {
			if !strings.Contains(e, name) {
				t.Errorf("%s: %q", name, o.Errors)
			}
		}
	}
}

// The cost of a run is that of all its attempts. That of one that was killed is not known, unless the sum of the session
// includes it, which shows by its tokens.
func TestResult_Cost(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		flags   []string
		acts    []string
		in, out int
		cost    string
		unknown bool
	}{
		"known and without dust": {nil, []string{"begin; turn 1 100 10; line '\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":500,\"result\":\"API Error: 500\",\"total_cost_usd\":0.1,\"usage\":{\"input_tokens\":100,\"output_tokens\":10},\"modelUsage\":{\"x\":{\"inputTokens\":100,\"outputTokens\":10}}'; exit 1",
			"begin; result 0.3 200 20 300 30"}, 300, 30, "0.3", false},
		"killed after a tool and begun anew": {[]string{"--no-resume-on-retry"}, []string{"begin; turn 1 100 10; hang", "begin; result 0.0008 200 20 200 20"}, 300, 30, "null", false},
		"killed after a tool and gone on":    {nil, []string{"begin; turn 1 100 10; hang", "begin; result 0.0016 200 20 300 30"}, 300, 30, "0.0016", false},
		"killed without a trace and gone on": {nil, []string{"begin; turn 1 100 10; hang", "begin; result 0.0008 200 20 200 20"}, 300, 30, "null", false},
		"killed in the middle of an answer":  {nil, []string{"begin; turn 1 100 10; speak m2 50; hang", "begin; result 0.0016 200 20 300 30"}, 350, 31, "null", true},
		"killed before there was anything":   {nil, []string{"begin; hang", "begin; result 0.0008 200 20 200 20"}, 200, 20, "0.0008", false},
		"killed twice and gone on":           {nil, []string{"begin; turn 1 100 10; hang", "begin; turn 2 100 10; hang", "begin; result 0.0024 200 20 400 40"}, 200, 20, "null", false},
		"0.0016000000000000003 is not meant": {nil, []string{"begin; result 0.0016000000000000003 200 20 200 20"}, 200, 20, "0.0016", false},
		"nothing was used":                   {nil, []string{"begin; result 0 0 0 0 0"}, 0, 0, "0", false},
		"text alone":                         {[]string{}, []string{"echo an answer"}, 0, 0, "null", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			r.play("claude", tt.acts...)
			args := first("claude", tt.flags...)
			if tt.flags != nil && len(tt.flags) == 0 {
				args = append(args, "--unheard-of")
			}
			o := r.belay(args...)
			if o.Usage.Input != tt.in || o.Usage.Output != tt.out || string(o.Usage.Cost) != tt.cost || o.Usage.Unknown != tt.unknown {
				t.Errorf("%+v, want %d, %d, %s, %v\n%s", o.Usage, tt.in, tt.out, tt.cost, tt.unknown, o.stderr)
			}
			// The record says the same.
			for _, inv := range asked[db.Invocation](r, "log") {
				cost, _ := json.Marshal(inv.Usage.Rounded().CostUSD)
				if inv.Usage.InputTokens != int64(tt.in) || inv.Usage.OutputTokens != int64(tt.out) || string(cost) != tt.cost || inv.Usage.Unknown != tt.unknown {
					t.Errorf("on record: %+v at %s", inv.Usage, cost)
				}
			}
		})
	}
}

// A local command costs nothing, and neither does what was not started; the cost of an agent that does not tell it is not
// known.
func TestResult_Zeros(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	r.play("codex", "begin; result 10 1", "begin; fail 401")
	r.play("claude", "begin; fail 401", "echo hello")
	for _, tt := range []struct {
		name string
		args []string
		cost string
	}{
		{"a command", []string{"--", "true"}, "0"},
		{"one that fails", []string{"--max-retries", "1", "--base-delay", "0", "--", "false"}, "0"},
		{"one that is not there", []string{"--", "no-such-command"}, "0"},
		{"an agent that is not", []string{"--", filepath.Join(r.dir, "no", "claude"), "-p", "hi"}, "0"},
		{"wrong use", []string{"--cwd", "/no/such/dir", "--", "true"}, "0"},
		{"refused", []string{"--gate", "shut", "--no-wait", "--", "true"}, "0"},
		{"an agent that was asked", first("codex"), "null"},
		{"one that was refused", first("codex"), "0"},
		{"one that tells", first("claude"), "0"},
		{"one that works for a person", []string{"--", "claude"}, "null"},
	} {
		if tt.name == "refused" {
			r.says("gates", "hold", "shut", "--until", "2099-01-01T00:00:00Z")
		}
		o := r.belay(tt.args...)
		if string(o.Usage.Cost) != tt.cost || o.Usage.Unknown != (tt.name == "one that works for a person") {
			t.Errorf("%s: %s, %v", tt.name, o.Usage.Cost, o.Usage.Unknown)
		}
		if tt.name == "wrong use" {
			continue // of which there is no record
		}
		inv := asked[db.Invocation](r, "log", "-n", "1")[0]
		if cost, _ := json.Marshal(inv.Usage.CostUSD); string(cost) != tt.cost || inv.ID != o.ID {
			t.Errorf("%s: on record as %s", tt.name, cost)
		}
	}
}

// A session that a retry has left for another is abandoned; it used to run for ever.
func TestSession_Abandoned(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		agent, flags string
		acts         []string
		code         int
		want         string // status and runs of each session
	}{
		"claude had not begun":           {"claude", "", []string{"begin; hang", "begin; result 0.1 1 1 1 1"}, 0, "1 abandoned 1, 2 done 1"},
		"claude after overloads":         {"claude", "", []string{"begin; fail 529", "begin; fail 529", "begin; result 0.1 1 1 1 1"}, 0, "1 abandoned 1, 2 abandoned 1, 3 done 1"},
		"codex had not begun":            {"codex", "", []string{"begin; hang", "begin; result 1 1"}, 0, "1 abandoned 1, 2 done 1"},
		"it is not to continue":          {"claude", "--no-resume-on-retry", []string{"begin; turn 1 1 1; hang", "begin; result 0.1 1 1 1 1"}, 0, "1 abandoned 1, 2 done 1"},
		"it goes on":                     {"claude", "", []string{"begin; turn 1 1 1; hang", "begin; result 0.1 1 1 1 1"}, 0, "1 done 1"},
		"the next one has none":          {"claude", "", []string{"begin; fail 529", "exit 1"}, 1, "1 abandoned 1"},
		"the next one fails":             {"codex", "", []string{"begin; hang", "begin; fail 400"}, 1, "1 abandoned 1, 2 failed 1"},
		"there is no time for a new one": {"claude", "--total-timeout 4s --base-delay 300s --max-wait 1h", []string{"begin; fail 529"}, 75, "1 failed 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			r.play(tt.agent, tt.acts...)
			o := r.belay(first(tt.agent, strings.Fields(tt.flags)...)...)
			if o.code != tt.code {
				t.Errorf("exit code %d\n%s", o.code, o.stderr)
			}
			var got, files []string
			for _, s := range asked[db.Session](r, "sessions") {
				got = append(got, fmt.Sprintf("%s %s %d", s.ID[35:], s.Status, s.Invocations))
				data, err := os.ReadFile(filepath.Join(r.dir, "state", "sessions", s.Profile+"-"+s.ID+".json"))
				var file struct{ Status string }
				if json.Unmarshal(data, &file) != nil || file.Status != s.Status {
					files = append(files, fmt.Sprintf("%s is %s, and %s in %v %s", s.ID, s.Status, file.Status, err, data))
				}
			}
			if slices.Sort(got); strings.Join(got, ", ") != tt.want || len(files) > 0 {
				t.Errorf("%q, want %q; %q", got, tt.want, files)
			}
			if list := asked[db.Session](r, "sessions", "--status", "running"); len(list) > 0 {
				t.Errorf("%+v", list)
			}
		})
	}
}

// A run that waits for a session is charged what it has used itself, and not what others have used meanwhile.
func TestSession_ConcurrentResumers(t *testing.T) {
	t.Parallel()
	for _, each := range []struct {
		cost string
		want float64
	}{{"0.0008", 0.0008}, {"0.1", 0.1}, {"0.3", 0.3}} {
		r := newRun(t, 0)
		// It tells the cost of the whole session, as claude does, and there is one of it at a time.
		r.play("claude", `mkdir "$PLAY/alone" || { echo two write at the same time >&2; exit 3; }
k=$(($(cat "$PLAY/$SESSION" 2>/dev/null || echo 0) + 1)); echo $k > "$PLAY/$SESSION"
begin; sleep 0.3
result $(awk "BEGIN { printf \"%.17g\", $k * `+each.cost+` }") 100 10 $((k * 100)) $((k * 10))
rmdir "$PLAY/alone"`)
		if o := r.belay(first("claude")...); o.code != 0 {
			t.Fatal(o.stderr)
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		for range 4 {
			all.Go(func() {
				o := r.belay("--resume", session(1), "--no-gate", "--", "claude", "-p", "more")
				var cost float64
				json.Unmarshal(o.Usage.Cost, &cost)
				mu.Lock()
				defer mu.Unlock()
				if o.code != 0 || cost != each.want || len(o.Usage.Cost) > 7 {
					t.Errorf("exit code %d, $%s, want %v\n%s", o.code, o.Usage.Cost, each.want, o.stderr)
				}
			})
		}
		all.Wait()
		list := asked[db.Session](r, "sessions")
		if len(list) != 1 || *list[0].Usage.Rounded().CostUSD != json5(each.want) || list[0].Invocations != 5 {
			t.Errorf("%+v", list)
		}
	}
}

// json5 is five times a cost, as it is written.
func json5(cost float64) float64 {
	var v float64
	fmt.Sscan(fmt.Sprintf("%.6f", 5*cost), &v)
	return v
}

// The log tells when the model first answered, what the CLI retried by itself, which tools it used, the trace, the run
// around it, and what belay has ended with; and so does the record.
func TestLog_Details(t *testing.T) {
	t.Parallel()
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	r := newRun(t, 0)
	r.env = append(r.env, "TRACEPARENT="+trace)
	r.play("claude", `begin; retry 1; retry 2; sleep 0.2; speak m1 10; spoken 5
call m1 t1 Bash; call m1 t2 mcp__files__read; answer t2; sleep 1; answer t1; call m2 t3 Bash; answer t3; result 0.1 10 5 10 5`)
	r.play("codex", `begin; retry 1; call i1 '"type":"command_execution","command":"secret"'; sleep 1; answer i1 '"type":"command_execution","command":"secret"'
call i2 '"type":"mcp_tool_call","server":"files","tool":"read","arguments":{"x":"secret"}'; answer i2 '"type":"mcp_tool_call","server":"files","tool":"read"'
answer i3 '"type":"file_change","changes":["secret"]'; result 10 5`)
	for agent, tt := range map[string]struct {
		retries int
		tools   string
	}{"claude": {2, "Bash 2, mcp__files__read 1"}, "codex": {1, "command_execution 1, files.read 1, file_change 1"}} {
		// The run around it is a plain command.
		args := append([]string{"--", filepath.Join(binDir, "belay"), "run", "--result-file", "inner"}, first(agent)...)
		outer := r.belay(args...)
		var inner report
		data, _ := os.ReadFile(filepath.Join(r.dir, "inner"))
		if err := json.Unmarshal(data, &inner); err != nil || outer.code != 0 {
			t.Fatalf("%s: %v, %s", agent, err, outer.stderr)
		}
		entries, _ := r.entries()
		i := slices.IndexFunc(entries, func(e journal.Entry) bool { return e.Invocation == inner.ID })
		if i < 0 {
			t.Fatalf("%s: it is not on record", agent)
		}
		e := entries[i]
		if e.Traceparent != trace || e.Parent != outer.ID || e.InnerRetries != tt.retries || e.BelayCode == nil || *e.BelayCode != 0 {
			t.Errorf("%s: %+v", agent, e)
		}
		if e.FirstToken <= 0 || e.FirstToken >= e.ResponseTime+1 || agent == "claude" && e.FirstToken < 0.1 {
			t.Errorf("%s: first token after %v of %v", agent, e.FirstToken, e.ResponseTime)
		}
		var tools []string
		for _, one := range e.Tools {
			tools = append(tools, fmt.Sprintf("%s %d", one.Name, one.Count))
		}
		if strings.Join(tools, ", ") != tt.tools || len(e.ToolCalls) != 3 || e.ToolsCut != 0 {
			t.Fatalf("%s: %+v, %+v", agent, e.Tools, e.ToolCalls)
		}
		if c := e.ToolCalls[0]; c.Time < 0.1 || c.Start < 0 || c.Start+c.Time > e.ResponseTime+1 || e.ToolCalls[2].Start < c.Start+0.1 {
			t.Errorf("%s: %+v", agent, e.ToolCalls)
		}
		type story struct {
			db.Invocation
			List []db.Attempt `json:"attempt_list"`
		}
		told := asked[story](r, "log", inner.ID)[0]
		a := told.List[0]
		if told.Parent != outer.ID || told.Trace != trace || told.Inner != int64(tt.retries) || told.BelayCode == nil || len(a.Tools) != len(tools) ||
			len(a.ToolCalls) != 3 || a.FirstMS == nil || *a.FirstMS <= 0 || a.Inner != int64(tt.retries) {
			t.Errorf("%s: %+v", agent, told)
		}
		text := r.says("log", inner.ID)
		for _, want := range []string{`parent +` + outer.ID, `trace +` + trace, `\(first token after [0-9]`, `tools: (Bash ×2|command_execution ×1) [0-9.]+m?s`,
			`the command itself retried`, `result +ok, exit code 0\n`} {
			if !regexp.MustCompile(want).MatchString(text) {
				t.Errorf("%s: no %q in\n%s", agent, want, text)
			}
		}
	}
	log, _ := os.ReadFile(filepath.Join(r.dir, "state", "log.jsonl"))
	if strings.Contains(string(log), "secret") {
		t.Error("what a tool was given is in the log")
	}
	// What is no trace is none, and a plain command has none of the rest.
	r.env = append(r.env, "TRACEPARENT=00-zz")
	o := r.belay("--", "true")
	entries, _ := r.entries()
	if e := entries[len(entries)-1]; e.Invocation != o.ID || e.Traceparent != "" || e.Parent != "" || e.FirstToken != 0 || e.Tools != nil || e.BelayCode == nil {
		t.Errorf("%+v", e)
	}
}

// Two hundred calls of tools with long names leave a line that is as short as any.
func TestLog_ManyTools(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mcp__" + strings.Repeat("n", 55) + "__", strings.Repeat("é", 500), "t"} {
		r := newRun(t, 0)
		r.play("claude", `begin; speak m1 10; spoken 5
i=0; while [ $i -lt 200 ]; do call m1 t$i $((i / 4))`+name+`; answer t$i; i=$((i + 1)); done; result 0.1 10 5 10 5`)
		if o := r.belay(first("claude")...); o.code != 0 {
			t.Fatal(o.stderr)
		}
		log, err := os.ReadFile(filepath.Join(r.dir, "state", "log.jsonl"))
		if err != nil || len(log) >= 4096 || strings.Count(string(log), "\n") != 1 {
			t.Errorf("%d bytes, %v", len(log), err)
		}
		entries, _ := r.entries()
		e, uses := entries[0], 0
		for _, one := range e.Tools {
			uses += one.Count
		}
		if uses != 200 || len(e.ToolCalls)+e.ToolsCut != 200 || len(e.ToolCalls) > 20 || len(e.Tools) > 21 || len(e.Tools) < 5 || len(e.Usage) == 0 || e.Model == "" {
			t.Errorf("%d uses, %d calls and %d cut: %s", uses, len(e.ToolCalls), e.ToolsCut, log)
		}
		if a := asked[db.Attempt](r, "log", "--attempts"); len(a) != 1 || a[0].ToolsCut != e.ToolsCut || len(a[0].Tools) != len(e.Tools) {
			t.Errorf("%+v", a)
		}
	}
}

// Belay's own exit code is on record beside the command's.
func TestLog_ExitCodes(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	r.says("gates", "hold", "shut", "--until", "2099-01-01T00:00:00Z")
	r.play("claude", "begin; hang")
	for name, tt := range map[string]struct {
		args        []string
		child, code int
		result      string // child_exit_code
		text        string
	}{
		"a stall":           {[]string{"--stall-timeout", "1s", "--max-retries", "0", "--no-gate", "--", "claude", "-p", "hi"}, 0, 124, "0", "exit code 124; the command's own is 0"},
		"the child's, then": {[]string{"--stall-timeout", "1s", "--max-retries", "0", "--no-gate", "--exit-code", "child", "--", "claude", "-p", "hi"}, 0, 0, "0", "stalled, exit code 0\n"},
		"a deadline":        {[]string{"--timeout", "200ms", "--", "sleep", "300"}, 143, 124, "143", "exit code 124; the command's own is 143"},
		"refused":           {[]string{"--gate", "shut", "--no-wait", "--max-retries", "1", "--", "true"}, -1, 75, "null", "exit code 75; the command has none"},
		"not found":         {[]string{"--", "no-such-command"}, 127, 127, "null", "tool_missing, exit code 127\n"},
		"a failure":         {[]string{"--", "sh", "-c", "exit 3"}, 3, 3, "3", "unknown, exit code 3\n"},
		"a success":         {[]string{"--", "true"}, 0, 0, "0", "ok, exit code 0\n"},
		"a lying 0":         {[]string{"--fail-on", "bad", "--", "echo", "bad"}, 0, 1, "0", "exit code 1; the command's own is 0"},
	} {
		o := r.belay(tt.args...)
		child, _ := json.Marshal(o.ChildCode)
		if o.code != tt.code || o.ExitCode != tt.code || string(child) != tt.result {
			t.Errorf("%s: exit code %d, the result says %d and %s\n%s", name, o.code, o.ExitCode, child, o.stderr)
		}
		entries, _ := r.entries()
		if e := entries[len(entries)-1]; e.ExitCode != tt.child || e.BelayCode == nil || *e.BelayCode != tt.code {
			t.Errorf("%s: %+v", name, e)
		}
		inv := asked[db.Invocation](r, "log", "-n", "1")[0]
		if inv.ExitCode != tt.child || inv.BelayCode == nil || *inv.BelayCode != tt.code {
			t.Errorf("%s: %+v", name, inv)
		}
		if text := r.says("log", o.ID); !strings.Contains(text, tt.text) {
			t.Errorf("%s: %s", name, text)
		}
	}
	// An attempt that another follows has no end of belay's.
	r.belay("--max-retries", "1", "--base-delay", "0", "--", "false")
	entries, _ := r.entries()
	if before := entries[len(entries)-2]; before.BelayCode != nil || before.Status != journal.Retry {
		t.Errorf("%+v", before)
	}
}

// The output could not be passed on: belay ends with that, and it is what the log says.
func TestLog_ExitCodeOfABrokenPipe(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	for _, command := range []string{"seq 200000", "yes | head -c 3000000", "dd if=/dev/zero bs=1000000 count=2 2>/dev/null"} {
		out, err := r.command("bash", "-c", "belay run --max-retries 1 -- sh -c '"+command+"' | true; echo ${PIPESTATUS[0]}").Output()
		if err != nil || strings.TrimSpace(string(out)) != "141" {
			t.Fatalf("%v: %s", err, out)
		}
		entries, _ := r.entries()
		if e := entries[len(entries)-1]; e.BelayCode == nil || *e.BelayCode != 141 || e.ExitCode != 0 {
			t.Errorf("%s: %+v", command, e)
		}
	}
}

// claude's log in the working directory is as large as the other when that is said.
func TestOwnLog_Large(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", "elsewhere", "deep/er"} {
		r := newRun(t, 0)
		r.play("claude", "begin; result 0.1 1 1 1 1")
		args, path := first("claude"), filepath.Join(r.dir, ".logs")
		if dir != "" {
			path = filepath.Join(r.dir, dir)
			args = append([]string{"--log-dir", path}, args...)
		}
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(path, "claude_invocations.jsonl"))
		if err == nil {
			err = f.Truncate(100<<20 - 10) // sparse
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if o := r.belay(args...); o.code != 0 || strings.Count(o.stderr, "is larger than 100 MiB: "+filepath.Join(path, "claude_invocations.jsonl")) != 1 {
			t.Errorf("%q: exit code %d\n%s", dir, o.code, o.stderr)
		}
		if o := r.belay(args...); strings.Contains(o.stderr, "100 MiB") {
			t.Errorf("%q: it is said again\n%s", dir, o.stderr)
		}
	}
}

// However much codex writes into its record, all that an attempt has used is found there; and what belongs to the attempts
// before is not counted again.
func TestCodex_LargeRecord(t *testing.T) {
	t.Parallel()
	const grow = `; head -c 9000000 /dev/zero | tr '\0' x >> "$ROLLOUT"; echo >> "$ROLLOUT"; `
	for name, tt := range map[string]struct {
		acts    []string
		in, out int
	}{
		"one attempt":         {[]string{"used 100 10" + grow + "begin; used 20 2; result 120 12"}, 120, 12},
		"killed, and goes on": {[]string{"begin; call i1 '\"type\":\"command_execution\"'; used 100 10" + grow + "used 20 2; hang", "used 7 1" + grow + "begin; used 3 1; result 999 99"}, 130, 14},
		"twice as large":      {[]string{"used 100 10" + grow + "used 20 2" + grow + "begin; used 3 1; result 999 99"}, 123, 13},
	} {
		r := newRun(t, 0)
		r.play("codex", tt.acts...)
		o := r.belay(first("codex")...)
		if o.code != 0 || o.Usage.Input != tt.in || o.Usage.Output != tt.out || o.Usage.Unknown {
			t.Errorf("%s: exit code %d, %+v\n%s", name, o.code, o.Usage, o.stderr)
		}
		// The next one of the same thread has its own.
		r.play("codex", "begin; used 5 1; result 999 99")
		if o := r.belay(append([]string{"--resume", "last"}, first("codex")...)...); o.code != 0 || o.Usage.Input != 5 || o.Usage.Output != 1 {
			t.Errorf("%s, resumed: exit code %d, %+v\n%s", name, o.code, o.Usage, o.stderr)
		}
	}
}

// Of an attempt that codex keeps no record of (--ephemeral), and that was ended before it could say, it is not known what it
// has used: that is not nothing.
func TestCodex_NoRecord(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		acts    []string
		in      int
		unknown bool
	}{
		"killed in a tool":        {[]string{"begin; call i1 '\"type\":\"command_execution\"'; hang", "begin; result 10 1"}, 10, true},
		"killed while it thinks":  {[]string{"begin; hang", "begin; result 10 1"}, 10, true},
		"failed after a tool":     {[]string{"begin; answer i1 '\"type\":\"command_execution\"'; fail 503", "begin; result 10 1"}, 10, true},
		"refused":                 {[]string{"begin; fail 503", "begin; result 10 1"}, 10, false},
		"told":                    {[]string{"begin; result 10 1"}, 10, false},
		"stopped while it waited": {[]string{"begin; retry 1; hang", "begin; result 10 1"}, 10, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			r.play("codex", tt.acts...)
			args := append(first("codex", "--no-resume-on-retry"), "--ephemeral")
			o := r.belay(args...)
			if o.code != 0 || o.Usage.Input != tt.in || o.Usage.Unknown != tt.unknown {
				t.Errorf("exit code %d, %+v\n%s", o.code, o.Usage, o.stderr)
			}
			inv := asked[db.Invocation](r, "log")[0]
			if inv.Usage.Unknown != tt.unknown {
				t.Errorf("%+v", inv.Usage)
			}
			if text := r.says("log", o.ID); strings.Contains(text, "or more") != tt.unknown {
				t.Errorf("%s", text)
			}
		})
	}
}
