package codex

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

const (
	started   = `{"type":"thread.started","thread_id":"` + thread + `"}`
	turn      = `{"type":"turn.started"}`
	warning   = `{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata for x not found."}}`
	thought   = `{"type":"item.completed","item":{"id":"item_1","type":"reasoning","text":"hm"}}`
	toolBegan = `{"type":"item.started","item":{"id":"item_2","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}`
	toolEnded = `{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"ls","aggregated_output":"HTTP 429","exit_code":0,"status":"completed"}}`
	hello     = `{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":"hello"}}`
	blank     = `{"type":"item.completed","item":{"id":"item_4","type":"agent_message","text":"\n"}}`
	completed = `{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":400,"cache_write_input_tokens":7,"output_tokens":50,"reasoning_output_tokens":20}}`
	refused   = `{"type":"error","message":"unexpected status 401 Unauthorized: no, url: http://h/v1/responses"}`
	failed    = `{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: no, url: http://h/v1/responses"}}`
)

// follow reads lines as one attempt of `codex exec hi`.
func follow(t *testing.T, lines ...string) agent.Follower {
	t.Helper()
	p := New(words("codex exec hi"), []string{"CODEX_HOME=" + t.TempDir()}, "")
	plan, err := p.Plan(agent.Turn{})
	must.OK(t, err)
	f := p.Follow(plan)
	for _, l := range lines {
		f.Line(agent.Line{Text: []byte(l)})
	}
	return f
}

func TestLine_News(t *testing.T) {
	f := follow(t)
	for _, step := range []struct {
		line string
		want agent.LineInfo
	}{
		{started, agent.LineInfo{}},
		{warning, agent.LineInfo{}},
		{turn, agent.LineInfo{}},
		{`{"type":"something.new","item":{"type":"agent_message"}}`, agent.LineInfo{}},
		{`not an event`, agent.LineInfo{Foreign: true}},
		{thought, agent.LineInfo{Answered: true}},
		{toolBegan, agent.LineInfo{Answered: true, Tools: 1, Continues: true, Activity: agent.Activity{Doing: agent.UsingTool, Tool: "exec", Argument: "ls"}, Begun: agent.Activity{Doing: agent.UsingTool, Tool: "exec", Argument: "ls"}}},
		{toolBegan, agent.LineInfo{Answered: true, Tools: 1, Continues: true, Activity: agent.Activity{Doing: agent.UsingTool, Tool: "exec", Argument: "ls"}}},
		{toolEnded, agent.LineInfo{Answered: true, Continues: true}},
		{`{"item":{"type":"todo_list","id":"item_9"},"type":"item.started"}`, agent.LineInfo{Answered: true, Continues: true}},
		{hello, agent.LineInfo{Answered: true}},
		{refused, agent.LineInfo{Show: agent.Hold}},
		{failed, agent.LineInfo{Show: agent.Hold}},
		{toolBegan, agent.LineInfo{Answered: true, Tools: 1, Continues: true, Activity: agent.Activity{Doing: agent.UsingTool, Tool: "exec", Argument: "ls"}, Begun: agent.Activity{Doing: agent.UsingTool, Tool: "exec", Argument: "ls"}, Said: "hello"}},
		{completed, agent.LineInfo{Delivered: true}},
	} {
		got := f.Line(agent.Line{Text: []byte(step.line)})
		got.Calls = nil // see TestCalls of the registry
		if !reflect.DeepEqual(got, step.want) {
			t.Errorf("%s: %+v", step.line, got)
		}
	}
	if got := f.Line(agent.Line{}); !reflect.DeepEqual(got, agent.LineInfo{Foreign: true}) { // an empty line
		t.Errorf("%+v", got)
	}
}

func TestLine_Retrying(t *testing.T) {
	tests := map[string]struct {
		class    verdict.Class
		wait     time.Duration
		hopeless bool
	}{
		"1/5 (exceeded retry limit, last status: 429 Too Many Requests)":                                   {class: verdict.RateLimit},
		"1/5 (rate limit exceeded: Rate limit reached for x. Please try again in 1.5s.)":                   {class: verdict.RateLimit, wait: 1500 * time.Millisecond},
		"2/5 (unexpected status 503 Service Unavailable: <html>(down)</html>, url: http://h/v1/responses)": {class: verdict.ServerError},
		"1/5 (stream disconnected before completion: idle timeout waiting for SSE)":                        {class: verdict.Timeout},
		"1/5 (stream disconnected before completion: stream closed before response.completed)":             {class: verdict.Network},
		"waiting for network (Connection failed: error sending request)":                                   {class: verdict.Network},
		"waiting for network": {class: verdict.Network},
		"1/5":                 {class: verdict.Unknown},
		"1/5 (unexpected status 401 Unauthorized: no, url: http://h/v1/responses)":                                   {class: verdict.Auth, hopeless: true},
		"1/5 (unexpected status 402 Payment Required: no, url: http://h/v1/responses)":                               {class: verdict.Billing, hopeless: true},
		"1/5 (unexpected status 404 Not Found: no, url: http://h/v1/responses)":                                      {class: verdict.NotFound, hopeless: true},
		"2/5 (unexpected status 404 Not Found: not found, url: ws://h/v1/responses)":                                 {class: verdict.NotFound}, // HTTPS comes next
		"2/5 (unexpected status 403 Forbidden: proxy, url: wss://h/v1/responses)":                                    {class: verdict.Auth},
		"1/5 (You’ve hit your usage limit. Try again later.)":                                                        {class: verdict.UsageLimit, hopeless: true},
		"1/5 (stream disconnected before completion: Incomplete response returned, reason: content_filter)":          {class: verdict.Refused},
		"1/5 (stream disconnected before completion: failed to lookup address information: Try again)":               {class: verdict.Network},
		"1/5 (stream disconnected before completion: error sending request for url (http://127.0.0.1/v1/responses))": {class: verdict.Network},
	}
	for message, want := range tests {
		line := `{"type":"error","message":"Reconnecting... ` + strings.ReplaceAll(message, `"`, `\"`) + `"}`
		info := follow(t, started, turn).Line(agent.Line{Text: []byte(line)})
		r := info.Retrying
		if r == nil || info.Show != agent.Pass {
			t.Errorf("%s: %+v", message, info)
			continue
		}
		if r.Verdict.Class != want.class || r.Wait != want.wait || r.Hopeless != want.hopeless {
			t.Errorf("%s: %s, wait %v, hopeless %v", message, r.Verdict.Class, r.Wait, r.Hopeless)
		}
	}
}

// Render gives what the bare CLI has on stdout: the last message, and nothing if the turn failed.
func TestRender(t *testing.T) {
	for name, tt := range map[string]struct {
		lines        []string
		text, answer string
	}{
		"one":                {[]string{started, hello, completed}, "hello\n", "hello"},
		"the last":           {[]string{started, `{"type":"item.completed","item":{"type":"agent_message","text":"partial"}}`, hello, completed}, "hello\n", "hello"},
		"ends in a newline":  {[]string{started, `{"type":"item.completed","item":{"type":"agent_message","text":"two\nlines\n"}}`, completed}, "two\nlines\n\n", "two\nlines\n"},
		"empty":              {[]string{started, `{"type":"item.completed","item":{"type":"agent_message","text":""}}`, completed}, "\n", ""},
		"none":               {[]string{started, thought, completed}, "", ""},
		"failed":             {[]string{started, hello, failed}, "", "hello"},
		"nothing whatsoever": {nil, "", ""},
	} {
		f := follow(t, tt.lines...)
		var b strings.Builder
		if err := f.Render(&b, agent.Text); err != nil || b.String() != tt.text || f.Answer().String() != tt.answer {
			t.Errorf("%s: %q, %q, %v", name, b.String(), f.Answer(), err)
		}
	}
}

// In the plain form the answer is not read as events, whatever it looks like.
func TestLine_Plain(t *testing.T) {
	p := New(words("codex exec hi"), nil, "")
	plan, _ := p.Plan(agent.Turn{Plain: true})
	if !plan.Plain || plan.Added != nil {
		t.Fatalf("%+v", plan)
	}
	f := p.Follow(plan)
	for _, l := range []string{started, failed} {
		if info := f.Line(agent.Line{Text: []byte(l)}); !reflect.DeepEqual(info, agent.LineInfo{}) {
			t.Errorf("%+v", info)
		}
	}
	if v := f.Judge(verdict.Outcome{}, noon); v.Class != verdict.OK || v.SessionID != "" {
		t.Errorf("%+v", v)
	}
	if !f.Answer().IsPrinted() {
		t.Errorf("%q", f.Answer())
	}
}

func TestAccount(t *testing.T) {
	all := verdict.Usage{InputTokens: 1000, OutputTokens: 50, CacheReadInputTokens: 400, CacheCreationInputTokens: 7}
	untold := verdict.Usage{Unknown: true} // there is no record of this thread
	const reconnects = `{"type":"error","message":"Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)"}`
	for name, tt := range map[string]struct {
		lines   []string
		outcome verdict.Outcome
		want    agent.Account
	}{
		"done":                      {[]string{started, hello, completed}, verdict.Outcome{}, agent.Account{Session: thread, Active: true, Usage: all}},
		"refused":                   {[]string{started, turn, warning, refused, failed}, verdict.Outcome{ExitCode: 1}, agent.Account{Session: thread, Requests: 1}},
		"stopped in a tool":         {[]string{started, turn, toolBegan}, verdict.Outcome{ExitCode: 1}, agent.Account{Session: thread, Active: true, Usage: untold}},
		"stopped while it thinks":   {[]string{started, turn}, verdict.Outcome{ExitCode: 1}, agent.Account{Session: thread, Usage: untold}},
		"stopped while it waits":    {[]string{started, turn, reconnects}, verdict.Outcome{ExitCode: 1}, agent.Account{Session: thread, Requests: 1}},
		"failed after a tool":       {[]string{started, turn, toolBegan, toolEnded, failed}, verdict.Outcome{ExitCode: 1}, agent.Account{Session: thread, Active: true, Requests: 1, Usage: untold}},
		"an option of ours":         {nil, outcome(2, "", "error: unexpected argument '--json' found"), agent.Account{Misunderstood: true}},
		"an option of the caller's": {nil, outcome(2, "", "error: unexpected argument '--nonsense' found"), agent.Account{}},
	} {
		f := follow(t, tt.lines...)
		f.Judge(tt.outcome, noon)
		got := f.Account()
		if got.Tools = (agent.ToolUse{}); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Of tools their names are told, how often and how long they ran, and never what they were given.
func TestAccount_Tools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, started, turn)
		for _, line := range []string{
			`{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"secret","status":"in_progress"}}`,
			`{"type":"item.started","item":{"id":"item_1","type":"mcp_tool_call","server":"files","tool":"read","arguments":{"path":"secret"}}}`,
			`{"type":"item.completed","item":{"id":"item_1","type":"mcp_tool_call","server":"files","tool":"read","arguments":{"path":"secret"}}}`,
			`{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"secret","status":"completed"}}`,
			`{"type":"item.completed","item":{"id":"item_2","type":"file_change","changes":[{"path":"secret"}]}}`,
			`{"type":"item.completed","item":{"id":"item_3","type":"web_search","query":"secret"}}`,
			`{"type":"item.started","item":{"id":"item_4","type":"collab_tool_call","tool":"spawn_agent"}}`,
			`{"type":"item.completed","item":{"id":"item_5","type":"agent_message","text":"secret"}}`,
			`{"type":"item.started","item":{"id":"item_6","type":"command_execution","command":"secret"}}`,
		} {
			f.Line(agent.Line{Text: []byte(line)})
			time.Sleep(time.Second)
		}
		f.Judge(verdict.Outcome{ExitCode: 1}, noon)
		use := f.Account().Tools
		if got, want := fmt.Sprint(use.Totals), "[{command_execution 2 4s} {files.read 1 1s} {file_change 1 0s} {web_search 1 0s} {spawn_agent 1 3s}]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if len(use.Calls) != 6 || use.Cut != 0 || use.Calls[1].Start.Sub(use.Calls[0].Start) != time.Second {
			t.Errorf("%+v", use)
		}
	})
}

// Silent retries of codex are recognized by its message and by the time that they take.
func TestAccount_SilentRetries(t *testing.T) {
	const high = `{"type":"error","message":"Reconnecting... 1/5 (We’re currently experiencing high demand, which may cause temporary errors.)"}`
	const capacity = `{"type":"turn.failed","error":{"message":"Selected model is at capacity."}}`
	for name, tt := range map[string]struct {
		lines  []string
		pause  time.Duration // before each
		unseen int
	}{
		"twice":             {[]string{started, high, high}, 3 * time.Second, 8},
		"and the end":       {[]string{started, high, capacity, failed}, 3 * time.Second, 8},
		"after a hint":      {[]string{started, capacity}, time.Minute, 4},
		"told at once":      {[]string{started, capacity, failed}, 100 * time.Millisecond, 0},
		"a busy machine":    {[]string{started, capacity, failed}, 2 * time.Second, 0},
		"throttles are not": {[]string{started, `{"type":"error","message":"Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)"}`}, 3 * time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := follow(t)
			for _, line := range tt.lines {
				time.Sleep(tt.pause)
				f.Line(agent.Line{Text: []byte(line)})
			}
			f.Judge(verdict.Outcome{ExitCode: 1}, noon)
			if got := f.Account().Unseen; got != tt.unseen {
				t.Errorf("%s: %d, want %d", name, got, tt.unseen)
			}
		})
	}
}

func outcome(code int, stdout, stderr string) verdict.Outcome {
	return verdict.Outcome{ExitCode: code, Stdout: verdict.ExcerptOf(stdout), Stderr: verdict.ExcerptOf(stderr)}
}

// What a tool was given is shown as a person would have typed it.
func TestFollow_Activity(t *testing.T) {
	for item, want := range map[string]agent.Activity{
		`"type":"command_execution","command":"/bin/bash -lc 'npm test'"`:                         {Tool: "exec", Argument: "npm test"},
		`"type":"command_execution","command":"/bin/bash -lc ls"`:                                 {Tool: "exec", Argument: "ls"},
		`"type":"command_execution","command":"sleep 3 -lc x"`:                                    {Tool: "exec", Argument: "sleep 3 -lc x"},
		`"type":"file_change","changes":[{"path":"a.go","kind":"update"}]`:                        {Tool: "patch", Argument: "a.go"},
		`"type":"web_search","query":"go generics"`:                                               {Tool: "search", Argument: "go generics"},
		`"type":"mcp_tool_call","server":"files","tool":"read","arguments":{"path":"/etc/hosts"}`: {Tool: "files.read", Argument: "/etc/hosts"},
		`"type":"mcp_tool_call","server":"files","tool":"read","arguments":"what"`:                {Tool: "files.read"},
	} {
		want.Doing = agent.UsingTool
		f := follow(t, started, turn)
		if got := f.Line(agent.Line{Text: []byte(`{"type":"item.started","item":{"id":"i",` + item + `}}`)}).Activity; got != want {
			t.Errorf("%s: %+v", item, got)
		}
		if got := f.Line(agent.Line{Text: []byte(`{"type":"item.completed","item":{"id":"i",` + item + `}}`)}).Activity; got != (agent.Activity{}) {
			t.Errorf("%s: afterwards %+v", item, got)
		}
	}
}
