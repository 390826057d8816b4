package claude

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// Of tools their names are told, how often and how long they ran, and never what they were given.
func TestAccount_Tools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := play(t, "-p hi")
		f.show(begins)
		f.show(`"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"secret"}}]}`)
		f.show(`"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t2","name":"mcp__files__read","input":{"path":"secret"}}]}`)
		time.Sleep(time.Second)
		f.show(`"type":"user","message":{"content":[{"type":"tool_result","content":"secret","tool_use_id":"t2"}]}`)
		time.Sleep(time.Second)
		f.show(`"type":"user","message":{"content":[{"type":"tool_result","content":"secret","tool_use_id":"t1"}]}`)
		f.show(`"type":"assistant","parent_tool_use_id":"t9","message":{"id":"m2","content":[{"type":"tool_use","id":"t3","name":"Bash","input":{}}]}`)
		time.Sleep(time.Second)
		use := f.Account().Tools
		if got, want := fmt.Sprint(use.Totals), "[{Bash 2 3s} {mcp__files__read 1 1s}]"; got != want || len(use.Calls) != 3 {
			t.Errorf("%s, want %s; %v", got, want, use.Calls)
		}
	})
}

// Of a message that was cut off, claude tells neither all tokens nor what it cost.
func TestAccount_CutOff(t *testing.T) {
	start := `"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","usage":{"input_tokens":50,"output_tokens":1}}}`
	delta := `"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":20}}`
	madeUp := `"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":1}}`
	interrupted := `"type":"result","subtype":"error_during_execution","is_error":true,"total_cost_usd":0.25,"usage":{"input_tokens":0,"output_tokens":0},"modelUsage":{"m":{"inputTokens":100,"outputTokens":10}}`
	for name, tt := range map[string]struct {
		lines   []string
		unknown bool
		session bool // what was told is that of the session
	}{
		"killed":                        {[]string{begins, start}, true, false},
		"interrupted":                   {[]string{begins, start, interrupted}, true, true},
		"interrupted and ended":         {[]string{begins, start, madeUp, interrupted}, true, true},
		"killed in a tool":              {[]string{begins, start, delta}, false, false},
		"before the first":              {[]string{begins}, false, false},
		"asked for again":               {[]string{begins, start, `"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":500,"error_status":529`}, false, false},
		"its end was not told, but all": {[]string{begins, start, succeeds}, false, false},
	} {
		f := play(t, "-p hi")
		for _, line := range tt.lines {
			f.show(line)
		}
		a := f.Account()
		if a.Usage.Unknown != tt.unknown || (a.SessionCost != nil) != tt.session || tt.unknown && a.Usage.CostUSD != nil {
			t.Errorf("%s: %+v, session %v", name, a.Usage, a.SessionCost)
		}
	}
}

// A turn that was asked for and never came has its price too, and claude's result, if it writes one at all, does not have it.
func TestAccount_Abandoned(t *testing.T) {
	answer := `"type":"assistant","message":{"id":"m1","usage":{"input_tokens":911,"output_tokens":918},"content":[{"type":"tool_use","id":"t1","name":"Bash"}]}`
	toolEnds := `"type":"user","message":{"content":[{"type":"tool_result","content":"x","tool_use_id":"t1"}]}`
	ends := func(more string) string {
		return `"type":"result","is_error":true,"total_cost_usd":0.022,"usage":{"input_tokens":911,"output_tokens":918},"modelUsage":{"m":{"inputTokens":911,"outputTokens":918}},` + more
	}
	for name, tt := range map[string]struct {
		lines []string
		known bool
	}{
		"asking":                  {[]string{begins, answer, toolEnds, ends(`"subtype":"error_during_execution","terminal_reason":"aborted_streaming"`)}, false},
		"asking, an older claude": {[]string{begins, answer, toolEnds, ends(`"subtype":"error_during_execution"`)}, false},
		"asking, and no result":   {[]string{begins, answer, toolEnds}, false},
		"in a tool":               {[]string{begins, answer, ends(`"subtype":"error_during_execution","terminal_reason":"aborted_tools"`)}, true},
		"refused":                 {[]string{begins, answer, toolEnds, ends(`"subtype":"success","result":"API Error: 529","api_error_status":529`)}, true},
	} {
		f := play(t, "-p hi")
		for _, line := range tt.lines {
			f.show(line)
		}
		a := f.Account()
		if !tt.known && a.SessionCost != nil {
			t.Errorf("%s: its cost would be found out from the session's, $%g", name, *a.SessionCost)
		}
		if a.Usage.CostUnknown() == tt.known || a.Usage.InputTokens != 911 || a.Usage.OutputTokens != 918 {
			t.Errorf("%s: %+v", name, a.Usage)
		}
	}
}

// Where there are no events, nothing is known of what an answer has used.
func TestAccount_UsageOfText(t *testing.T) {
	for text, want := range map[string]bool{"an answer\n": true, "Unknown slash command: x\n": false, "": true} {
		f := play(t, "-p hi --unheard-of")
		if text != "" {
			f.Line(agent.Line{Text: []byte(strings.TrimSuffix(text, "\n"))})
		}
		f.Judge(verdict.Outcome{Stdout: verdict.ExcerptOf(text)}, now)
		if got := f.Account().Usage; got.Unknown != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	f := play(t, "-p hi --unheard-of")
	f.Judge(verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("error: unknown option '--unheard-of'")}, now)
	if got := f.Account().Usage; !got.IsZero() {
		t.Errorf("%+v", got)
	}
}
