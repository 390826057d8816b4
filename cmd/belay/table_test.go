//go:build linux

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/printable"
)

// On a terminal of 80 columns no line of a table is broken, and the reason of a failure can be read. In a pipe it is whole.
func TestTables_FitTheTerminal(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("on and ", 9) + "on"
	s := newScreen(t, "sh", "-c", `belay run --max-retries 1 --base-delay 0 -- sh -c 'echo it goes `+long+` >&2; exit 3' 2> said
belay log; belay log --attempts; belay events; belay audit; belay stats
belay events | tee whole | wc -l`)
	s.ends(0)
	shown := colors.ReplaceAllString(s.shown(), "")
	for line := range strings.Lines(shown) {
		if n := printable.Width(strings.TrimRight(line, "\r\n")); n > 80 {
			t.Errorf("%q has %d columns", line, n)
		}
	}
	if strings.Count(shown, "sh exited 3: it goes on and") < 4 {
		t.Error("the reason cannot be read")
	}
	whole, err := os.ReadFile(s.path("whole"))
	if err != nil || !strings.Contains(string(whole), long) {
		t.Errorf("what goes to a pipe is cut: %s, %v", whole, err)
	}
}

// colors are the sequences that set a colour.
var colors = regexp.MustCompile("\x1b\\[[0-9;]*m")

// recordOfAgents is a log with the costs, tokens and errors of agents.
const recordOfAgents = `{"timestamp":"2026-10-24T20:01:00.000Z","invocation":"run-aaaaaaaa","profile":"claude","command":"claude","model":"claude-opus-4-8-20260901","attempt":1,"status":"success","exit_code":0,"response_time":412,"usage":{"input_tokens":1234567,"output_tokens":45678,"total_cost_usd":12.3456}}
{"timestamp":"2026-10-24T20:02:00.000Z","invocation":"run-bbbbbbbb","profile":"claude","command":"claude","model":"claude-opus-4-8-20260901","attempt":1,"status":"error","error_type":"session_not_found","error":"利用制限: no conversation found with session id 3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66, which was to be resumed","exit_code":1,"response_time":1,"usage":{"input_tokens":890123,"output_tokens":1200,"total_cost_usd":0.4213,"unknown":true}}
{"timestamp":"2026-10-24T20:04:00.000Z","invocation":"run-cccccccc","profile":"codex","command":"codex","model":"gpt-5.6-sol","attempt":1,"status":"success","exit_code":0,"response_time":1,"usage":{"input_tokens":60,"output_tokens":6,"total_cost_usd":0.75,"estimated":true}}
`

// What people open belay log and belay stats for is there at 80 columns, whole; at 120 and 200 the rest is, too. Colours and bars follow
// the conventions of terminals.
func TestTables_OnATerminal(t *testing.T) {
	t.Parallel()
	s := newScreen(t, "sh", "-c", `mkdir -m 700 record && printf '%s' "$1" > record/log.jsonl && export BELAY_STATE_DIR=$PWD/record LC_ALL=C.UTF-8
for n in 80 120 200; do stty cols $n; echo "== $n"; belay log; belay stats; done
stty cols 80
echo == NO_COLOR; NO_COLOR=1 belay stats
echo == dumb; TERM=dumb belay stats
echo == CLICOLOR; CLICOLOR=0 belay stats
echo == ASCII; LC_ALL=C belay stats --by model
echo == pipe; belay stats --by model | cat
echo == forced; CLICOLOR_FORCE=1 belay log | cat
echo == end`, "sh", recordOfAgents)
	s.expect("== end\r\n")
	s.ends(0)
	shown := strings.ReplaceAll(s.shown(), "\r\n", "\n")
	part := func(name string) string {
		_, rest, _ := strings.Cut(shown, "== "+name+"\n")
		text, _, ok := strings.Cut(rest, "== ")
		if !ok {
			t.Fatalf("there is no part %s", name)
		}
		return text
	}
	whole := []string{"1,234,567", "45,678", "$12.3456", "≥ $0.4213", "~$0.7500", "session_not_found", "≥ ~$13.5169", "2,124,690"}
	for width, more := range map[int][]string{80: nil, 120: {"ATTEMPTS", "TOOK"}, 200: {"ATTEMPTS", "TOOK", "ERROR", "1,234,567 in, 45,678 out"}} {
		text := part(fmt.Sprint(width))
		if !strings.Contains(text, "\x1b[31msession_not_found\x1b[0m") || !strings.Contains(text, "\x1b[32mok\x1b[0m") {
			t.Errorf("at %d columns there are no colours", width)
		}
		text = colors.ReplaceAllString(text, "")
		for _, want := range append(whole, more...) {
			if !strings.Contains(text, want) {
				t.Errorf("at %d columns there is no %q:\n%s", width, want, text)
			}
		}
		_, tables, _ := strings.Cut(text, "ERROR") // the summary of stats is a sentence, and may be broken
		for line := range strings.Lines(tables) {
			if n := printable.Width(strings.TrimSuffix(line, "\n")); n > width && !strings.Contains(line, "3 runs, ") {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
		if day, model := strings.Index(text, "DAY "), strings.Index(text, "MODEL "); day < 0 || model < day || strings.Index(text, "PROFILE ") < model {
			t.Errorf("cost by day and model is not first:\n%s", text)
		}
	}
	for name, want := range map[string]string{"NO_COLOR": "█", "dumb": "█", "CLICOLOR": "█", "ASCII": "####", "pipe": "2,124,690 in"} {
		if text := part(name); name != "ASCII" && strings.Contains(text, "\x1b") || !strings.Contains(text, want) {
			t.Errorf("%s: %q", name, text)
		}
	}
	if text := part("pipe"); strings.ContainsAny(text, "█░") {
		t.Errorf("a pipe has bars: %s", text)
	}
	if text := part("ASCII"); strings.ContainsAny(text, "█░…") {
		t.Errorf("ASCII: %s", text)
	}
	if text := part("forced"); !strings.Contains(text, "\x1b[31msession_not_found") || !strings.Contains(text, "890,123 in, 1,200 out") {
		t.Errorf("forced: %q", text)
	}
}
