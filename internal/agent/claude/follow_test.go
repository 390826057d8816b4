package claude

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// testFollower is a follower that is shown events.
type testFollower struct {
	t *testing.T
	agent.Follower
}

func play(t *testing.T, args string) *testFollower {
	p := New(append([]string{"claude"}, strings.Fields(args)...), []string{})
	plan, err := p.Plan(agent.Turn{})
	must.OK(t, err)
	return &testFollower{t, p.Follow(plan)}
}

// show shows it one event.
func (f *testFollower) show(fields string) agent.LineInfo {
	return f.Line(agent.Line{Text: []byte(strings.TrimSpace(line(fields)))})
}

// ends judges an exit with that code.
func (f *testFollower) ends(code int, class verdict.Class) verdict.Verdict {
	f.t.Helper()
	v := f.Judge(verdict.Outcome{ExitCode: code}, now)
	if v.Class != class {
		f.t.Errorf("%s by %s (%s), want %s", v.Class, v.Rule, v.Evidence, class)
	}
	return v
}

const (
	begins   = `"type":"system","subtype":"init","claude_code_version":"2.1.325","apiKeySource":"ANTHROPIC_API_KEY"`
	succeeds = `"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"hi","total_cost_usd":0.5,"usage":{"input_tokens":10,"output_tokens":5},"modelUsage":{"m":{"inputTokens":10,"outputTokens":5}}`
)

func says(id, text string) string {
	return fmt.Sprintf(`"type":"assistant","message":{"id":%q,"model":"m","content":[{"type":"text","text":%q}],"usage":{"input_tokens":10,"output_tokens":1}}`, id, text)
}

func calls(id, tool string) string {
	return fmt.Sprintf(`"type":"assistant","message":{"id":%q,"model":"m","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{}}],"usage":{"input_tokens":10,"output_tokens":1}}`, id, tool)
}

func answers(tool string) string {
	return fmt.Sprintf(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"x"}]}`, tool)
}

func TestFollow_Success(t *testing.T) {
	f := play(t, "-p hi")
	if n := f.show(begins); n.Answered || n.Delivered || n.Show != agent.Pass {
		t.Errorf("%+v", n)
	}
	if n := f.show(says("m1", "hi")); !n.Answered || n.Delivered {
		t.Errorf("%+v", n)
	}
	if n := f.show(succeeds); !n.Answered || !n.Delivered || n.Show != agent.Pass {
		t.Errorf("%+v", n)
	}
	v := f.ends(0, verdict.OK)
	if v.SessionID == "" || f.Answer().String() != "hi" {
		t.Errorf("%+v, %q", v, f.Answer())
	}
	a := f.Account()
	if !a.Active || a.Version != "2.1.325" || a.Usage.InputTokens != 10 || a.Usage.OutputTokens != 5 || *a.Usage.CostUSD != 0.5 || a.Unseen != 0 || a.Requests != 1 {
		t.Errorf("%+v", a)
	}
}

// Success needs all of it: exit 0, a result, no error, and subtype success.
func TestFollow_NotQuite(t *testing.T) {
	f := play(t, "-p hi")
	f.show(begins)
	f.show(succeeds)
	f.ends(1, verdict.Unknown)
	f = play(t, "-p hi")
	f.show(begins)
	f.show(says("m1", "hi"))
	f.ends(0, verdict.Interrupted)
	f = play(t, "-p hi")
	f.show(begins)
	f.show(strings.Replace(succeeds, `"subtype":"success"`, `"subtype":"error_during_execution"`, 1))
	if v := f.Judge(verdict.Outcome{}, now); v.Class == verdict.OK {
		t.Errorf("%+v", v)
	}
	// 2.0.77, of a page that is no answer.
	f = play(t, "-p hi")
	f.show(`"type":"result","subtype":"error_during_execution","is_error":false,"errors":[]`)
	f.ends(0, verdict.BadOutput)
	play(t, "-p hi").ends(0, verdict.Interrupted)
	play(t, "-p hi").ends(143, verdict.Interrupted)
	play(t, "-p hi").ends(1, verdict.Unknown)
	for signal, class := range map[string]verdict.Class{"SIGINT": verdict.Interrupted, "SIGTERM": verdict.Interrupted, "SIGHUP": verdict.Interrupted, "SIGKILL": verdict.Crash, "SIGSEGV": verdict.Crash} {
		if v := play(t, "-p").Judge(verdict.Outcome{ExitCode: -1, Signal: signal}, now); v.Class != class {
			t.Errorf("%s: %s", signal, v.Class)
		}
	}
}

// Exit 0 and "success", but nothing was done. A model may say the same.
func TestFollow_NothingDone(t *testing.T) {
	for _, text := range []string{"Unknown command: /nosuch", "Unknown slash command: nosuch", "UserPromptSubmit operation blocked by hook:\n[cmd]: no\n\nOriginal prompt: hi"} {
		f := play(t, "-p hi")
		f.show(begins)
		f.show(`"type":"result","subtype":"success","is_error":false,"num_turns":0,"modelUsage":{},"result":` + quoted(text))
		f.ends(0, verdict.Blocked)
		f = play(t, "-p hi")
		f.show(begins)
		f.show(says("m1", text))
		f.show(strings.Replace(succeeds, `"result":"hi"`, `"result":`+quoted(text), 1))
		f.ends(0, verdict.OK)
	}
}

// Pieces of messages are shown only to a caller that has asked for them.
func TestFollow_Pieces(t *testing.T) {
	piece := `"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"h"}}`
	status := `"type":"system","subtype":"status","status":"requesting"`
	for args, show := range map[string]agent.Show{"-p hi": agent.Drop, "-p hi --include-partial-messages": agent.Pass} {
		f := play(t, args)
		for _, e := range []string{piece, status} {
			if n := f.show(e); n.Show != show || n.Answered {
				t.Errorf("%s, %s: %+v", args, e, n)
			}
		}
		n := f.show(`"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","usage":{"input_tokens":7,"output_tokens":1}}}`)
		if n.Show != show || !n.Answered {
			t.Errorf("%s: %+v", args, n)
		}
		f.show(`"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":9}}`)
		// It is killed before the message is whole.
		if a := f.Account(); a.Usage.InputTokens != 7 || a.Usage.OutputTokens != 9 || a.Usage.CostUSD != nil || !a.Active {
			t.Errorf("%+v", a)
		}
	}
}

func TestFollow_Tools(t *testing.T) {
	f := play(t, "-p hi")
	f.show(begins)
	for i, step := range []struct {
		event string
		tools int
	}{
		{calls("m1", "t1"), 1}, {calls("m1", "t2"), 2}, {calls("m1", "t2"), 2}, {answers("t1"), 1}, {answers("t9"), 1}, {says("m2", "x"), 1},
		{answers("t2"), 0}, {calls("m3", "t3"), 1}, {succeeds, 0},
	} {
		if n := f.show(step.event); n.Tools != step.tools {
			t.Errorf("step %d: %d tools, want %d", i, n.Tools, step.tools)
		}
	}
}

// A task in the background may outlast the result: it is not delivered before that ends. 2.1.325 then has another turn.
func TestFollow_Background(t *testing.T) {
	f := play(t, "-p hi")
	f.show(begins)
	f.show(`"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b1"}]`)
	f.show(`"type":"system","subtype":"task_started","task_id":"b1","is_backgrounded":true`)
	f.show(`"type":"system","subtype":"task_started","task_id":"f1","is_backgrounded":false`)
	f.show(says("m1", "first"))
	if n := f.show(succeeds); n.Delivered || n.Tools != 1 {
		t.Errorf("%+v", n)
	}
	if n := f.show(`"type":"system","subtype":"task_notification","task_id":"b1","status":"completed"`); !n.Delivered || n.Tools != 0 {
		t.Errorf("%+v", n)
	}
	if n := f.show(begins); n.Delivered {
		t.Error("another turn has begun")
	}
	f.show(says("m2", "second"))
	second := strings.NewReplacer(`"result":"hi"`, `"result":"second"`, "0.5", "0.75").Replace(succeeds)
	if n := f.show(second); !n.Delivered {
		t.Errorf("%+v", n)
	}
	f.ends(0, verdict.OK)
	a := f.Account()
	if a.Usage.InputTokens != 20 || a.Usage.OutputTokens != 10 || *a.Usage.CostUSD != 0.75 || f.Answer().String() != "second" {
		t.Errorf("%+v, %q", a, f.Answer())
	}
	var text, object bytes.Buffer
	f.Render(&text, agent.Text)
	f.Render(&object, agent.JSON)
	if text.String() != "hi\nsecond\n" || strings.Count(object.String(), "\n") != 1 || !strings.Contains(object.String(), `"second"`) {
		t.Errorf("%q\n%q", text.String(), object.String())
	}
	// All of them are gone at once, and older versions say no more than that one began.
	f = play(t, "-p hi")
	f.show(`"type":"system","subtype":"task_started","task_id":"b1"`)
	if n := f.show(succeeds); n.Delivered {
		t.Errorf("%+v", n)
	}
	if n := f.show(`"type":"system","subtype":"background_tasks_changed","tasks":[]`); !n.Delivered {
		t.Errorf("%+v", n)
	}
}

// If the second turn fails, the run has failed: that is how it ends.
func TestFollow_LastResultCounts(t *testing.T) {
	f := play(t, "-p hi")
	f.show(begins)
	f.show(succeeds)
	f.show(begins)
	if n := f.show(`"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"API Error: 529 Overloaded."`); n.Show != agent.Hold {
		t.Errorf("%+v", n)
	}
	f.ends(1, verdict.Overloaded)
	if f.Answer().String() != "" {
		t.Errorf("%q", f.Answer())
	}
}

// Fields come in any order: 2.1.325 has the type of a result near its end.
func TestFollow_KeyOrder(t *testing.T) {
	f := play(t, "-p hi")
	f.Line(agent.Line{Text: []byte(`{"duration_api_ms":5,"session_id":"s","total_cost_usd":0.5,"is_error":false,"subagent_stats":{"failed":0,"killed":{},"refused":{"type":"x"}},"subtype":"success","result":"hi","type":"result","uuid":"u"}`)})
	f.ends(0, verdict.OK)
	if f.Account().Session != "s" || f.Answer().String() != "hi" {
		t.Errorf("%+v, %q", f.Account(), f.Answer())
	}
}

// What is not understood is passed on and breaks nothing.
func TestFollow_Unknown(t *testing.T) {
	f := play(t, "-p hi")
	f.show(begins)
	for _, e := range []string{
		`"type":"brand_new","x":1`, `"type":"system","subtype":"brand_new"`, `"type":"system","subtype":"task_started","is_backgrounded":false`,
		`"type":"assistant","message":"text"`, `"type":"user","message":{"content":"text"}`, `"type":"user","message":{"content":[{"type":7}]}`,
		`"type":"system","subtype":"api_retry","attempt":"one","error":{"type":"x"},"retry_delay_ms":"1"`, `"type":"rate_limit_event","rate_limit_info":[]`,
	} {
		if n := f.show(e); n.Show != agent.Pass || n.Delivered {
			t.Errorf("%s: %+v", e, n)
		}
	}
	for _, l := range []string{"", "null", "{", "[", "[]", "[1]", "text", `{"type":"result"}`, "\xff\xfe", `{"type":5,"session_id":"s"}`} {
		if n := f.Line(agent.Line{Text: []byte(l)}); n.Show != agent.Pass || n.Delivered {
			t.Errorf("%q: %+v", l, n)
		}
	}
	if n := f.Line(agent.Line{}); n.Show != agent.Pass { // one that was too long
		t.Errorf("%+v", n)
	}
	f.show(succeeds)
	f.ends(0, verdict.OK)
}

// What claude says of itself is a failure: it is held back until it is final. In the middle of a run it is none.
func TestFollow_Complaint(t *testing.T) {
	f := play(t, "-p hi")
	f.show(begins)
	f.show(calls("m1", "t1"))
	if n := f.show(`"type":"assistant","error":"server_error","message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":"API Error: Connection closed mid-response."}]}`); n.Show != agent.Hold {
		t.Errorf("%+v", n)
	}
	f.show(answers("t1"))
	f.show(says("m2", "done"))
	f.show(succeeds)
	f.ends(0, verdict.OK)
	f = play(t, "-p hi")
	f.show(begins)
	f.show(`"type":"assistant","error":"server_error","message":{"id":"x","model":"<synthetic>","content":[]}`)
	if a := f.Account(); a.Active {
		t.Error("claude's own words are not the model's work")
	}
}

func retryEvent(status, name string, attempt int, delay string) string {
	return fmt.Sprintf(`"type":"system","subtype":"api_retry","attempt":%d,"max_retries":10,"retry_delay_ms":%s,"error_status":%s,"error":%q`, attempt, delay, status, name)
}

func TestFollow_InnerRetries(t *testing.T) {
	for _, c := range []struct {
		event    string
		class    verdict.Class
		hint     bool
		hopeless bool
	}{
		{retryEvent("429", "rate_limit", 1, "2000"), verdict.RateLimit, true, false},
		{retryEvent("429", "rate_limit", 1, "2013.5"), verdict.RateLimit, true, false}, // more than its own back-off
		{retryEvent("429", "rate_limit", 3, "2345"), verdict.RateLimit, false, false},
		{retryEvent("429", "rate_limit", 4, "5000"), verdict.RateLimit, true, false},
		{retryEvent("429", "rate_limit", 1, "534.2"), verdict.RateLimit, false, false},
		{retryEvent("529", "overloaded", 1, "512"), verdict.Overloaded, false, false},
		{retryEvent("500", "server_error", 9, "35123"), verdict.ServerError, false, false},
		{retryEvent("null", "unknown", 1, "512"), verdict.Network, false, false},
		{retryEvent("null", "overloaded", 1, "512"), verdict.Overloaded, false, false},
		{retryEvent("401", "authentication_failed", 1, "512"), verdict.Auth, false, true},
		{retryEvent("403", "authentication_failed", 1, "512"), verdict.Auth, false, true},
		{retryEvent("402", "billing_error", 1, "512"), verdict.Billing, false, true},
	} {
		f := play(t, "-p hi")
		f.show(begins)
		n := f.show(c.event)
		r := n.Retrying
		if r == nil {
			t.Fatalf("%s: no retry", c.event)
		}
		if r.Verdict.Class != c.class || r.Hopeless != c.hopeless || r.Verdict.Hint.IsZero() == c.hint || r.Wait <= 0 || r.Verdict.Retryable != c.class.Retryable() || n.Answered {
			t.Errorf("%s: %+v", c.event, r)
		}
	}
	// Another key than one from the environment may be refreshed: once.
	f := play(t, "-p hi")
	f.show(strings.Replace(begins, "ANTHROPIC_API_KEY", "none", 1))
	if r := f.show(retryEvent("401", "authentication_failed", 1, "512")).Retrying; r.Hopeless {
		t.Error("the first time there is hope")
	}
	if r := f.show(retryEvent("401", "authentication_failed", 2, "1012")).Retrying; !r.Hopeless {
		t.Error("the second time there is none")
	}
	for _, delay := range []string{"-5", "1e300", "null"} {
		if r := f.show(retryEvent("500", "server_error", 2, delay)).Retrying; r.Wait < 0 || r.Wait > 300*time.Hour {
			t.Errorf("%s: %v", delay, r.Wait)
		}
	}
}

// With CLAUDE_CODE_RETRY_WATCHDOG claude waits for a usage limit, and tells of that again every 30 s. It is one retry, and the limit is not a
// throttle.
func TestFollow_WaitsForALimit(t *testing.T) {
	refused := `"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794948857,"rateLimitType":"five_hour"}`
	allowed := `"type":"rate_limit_event","rate_limit_info":{"status":"allowed"}`
	type told struct {
		event    string
		class    verdict.Class
		repeated bool
	}
	for name, tt := range map[string]struct {
		events   []told
		requests int // with the answer
	}{
		"a usage limit": {[]told{{refused, "", false}, {retryEvent("429", "rate_limit", 1, "93961"), verdict.UsageLimit, false}, {retryEvent("429", "rate_limit", 1, "63961"), verdict.UsageLimit, true},
			{retryEvent("429", "rate_limit", 1, "33961"), verdict.UsageLimit, true}, {retryEvent("429", "rate_limit", 1, "3961"), verdict.UsageLimit, true}}, 2},
		"one after the other": {[]told{{refused, "", false}, {retryEvent("429", "rate_limit", 1, "40000"), verdict.UsageLimit, false}, {retryEvent("429", "rate_limit", 1, "10000"), verdict.UsageLimit, true},
			{refused, "", false}, {retryEvent("429", "rate_limit", 2, "40000"), verdict.UsageLimit, false}, {retryEvent("429", "rate_limit", 2, "10000"), verdict.UsageLimit, true}}, 3},
		"a long retry-after":            {[]told{{retryEvent("429", "rate_limit", 1, "70000"), verdict.RateLimit, false}, {retryEvent("429", "rate_limit", 1, "40000"), verdict.RateLimit, true}, {retryEvent("429", "rate_limit", 2, "1013"), verdict.RateLimit, false}}, 3},
		"short ones of several numbers": {[]told{{retryEvent("529", "overloaded", 1, "522"), verdict.Overloaded, false}, {retryEvent("529", "overloaded", 2, "1241"), verdict.Overloaded, false}}, 3},
		"of one number, but not longer": {[]told{{retryEvent("529", "overloaded", 1, "600"), verdict.Overloaded, false}, {retryEvent("529", "overloaded", 1, "522"), verdict.Overloaded, false}}, 3},
		"of another failure":            {[]told{{retryEvent("429", "rate_limit", 1, "40000"), verdict.RateLimit, false}, {retryEvent("529", "overloaded", 1, "522"), verdict.Overloaded, false}}, 3},
		"after an answer":               {[]told{{retryEvent("429", "rate_limit", 1, "40000"), verdict.RateLimit, false}, {calls("m1", "t1"), "", false}, {answers("t1"), "", false}, {retryEvent("429", "rate_limit", 1, "39000"), verdict.RateLimit, false}}, 4},
		"a throttle when it is lifted":  {[]told{{refused, "", false}, {allowed, "", false}, {retryEvent("429", "rate_limit", 1, "512"), verdict.RateLimit, false}}, 2},
		"an overload of a limited plan": {[]told{{refused, "", false}, {retryEvent("529", "overloaded", 1, "512"), verdict.Overloaded, false}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := play(t, "-p hi")
			f.show(begins)
			for _, e := range tt.events {
				r := f.show(e.event).Retrying
				if r == nil {
					if e.class != "" {
						t.Fatalf("%s: no retry", e.event)
					}
					continue
				}
				if r.Verdict.Class != e.class || r.Repeated != e.repeated || e.class == verdict.UsageLimit && !r.Verdict.Hint.At.Equal(time.Unix(1794948857, 0)) {
					t.Errorf("%s: %+v", e.event, r)
				}
			}
			f.show(says("m9", "done"))
			f.show(succeeds)
			f.ends(0, verdict.OK)
			if n := f.Account().Requests; n != tt.requests {
				t.Errorf("%d requests, want %d", n, tt.requests)
			}
		})
	}
}

// Versions before 2.1 retry silently: ten times, unless they were told otherwise.
func TestFollow_Unseen(t *testing.T) {
	fails := `"type":"result","subtype":"success","is_error":true,"result":"API Error: 500 {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"x\"}}"`
	for _, c := range []struct {
		version string
		env     []string
		turn    agent.Turn
		fails   string
		want    int
	}{
		{"2.0.77", nil, agent.Turn{}, fails, 10},
		{"", nil, agent.Turn{}, fails, 10},
		{"2.0.77", []string{"CLAUDE_CODE_MAX_RETRIES=3"}, agent.Turn{}, fails, 3},
		{"2.0.77", []string{"CLAUDE_CODE_MAX_RETRIES=30"}, agent.Turn{}, fails, 15},
		{"2.0.77", []string{"CLAUDE_CODE_MAX_RETRIES=many"}, agent.Turn{}, fails, 10},
		{"2.0.77", nil, agent.Turn{MaxRetries: ptr(1)}, fails, 1},
		{"2.1.197", nil, agent.Turn{}, fails, 0},
		{"2.1.325", nil, agent.Turn{}, fails, 0},
		{"3.0.0", nil, agent.Turn{}, fails, 0},
		{"2.0.77", nil, agent.Turn{}, `"type":"result","subtype":"success","is_error":true,"result":"Credit balance is too low"`, 0},
	} {
		p := New([]string{"claude", "-p", "hi"}, append([]string{}, c.env...))
		plan, err := p.Plan(c.turn)
		must.OK(t, err)
		f := &testFollower{t, p.Follow(plan)}
		f.show(`"type":"system","subtype":"init","claude_code_version":` + quoted(c.version))
		f.show(c.fails)
		f.Judge(verdict.Outcome{ExitCode: 1}, now)
		if got := f.Account().Unseen; got != c.want {
			t.Errorf("%s %v: %d, want %d", c.version, c.env, got, c.want)
		}
	}
}

// An option of ours that an older version does not know is not the caller's fault.
func TestFollow_Misunderstood(t *testing.T) {
	for text, want := range map[string]bool{
		"error: unknown option '--include-partial-messages'": true,
		"error: unknown option '--no-such-flag'":             false,
		"error: unknown option '--model'":                    false,
	} {
		f := play(t, "-p hi --model x")
		f.Judge(verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(text)}, now)
		if f.Account().Misunderstood != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

// The same message comes several times; what a result tells and what was seen are accounts of the same.
func TestFollow_Usage(t *testing.T) {
	f := play(t, "-p hi")
	f.show(begins)
	for range 3 {
		f.show(says("m1", "x"))
	}
	f.show(says("m2", "x"))
	if a := f.Account(); a.Usage.InputTokens != 20 || a.Usage.OutputTokens != 2 || a.Usage.CostUSD != nil || a.Turns != 2 {
		t.Errorf("killed: %+v", a.Usage)
	}
	f.show(`"type":"result","subtype":"error_max_budget_usd","is_error":true,"errors":["Reached maximum budget ($0.5)"],"total_cost_usd":1,"usage":{"input_tokens":0,"output_tokens":0}`)
	v := f.ends(1, verdict.LimitReached)
	if a := f.Account(); a.Usage.InputTokens != 20 || *a.Usage.CostUSD != 1 {
		t.Errorf("%+v", a.Usage)
	}
	if !strings.Contains(string(v.Usage), `"total_cost_usd":1`) {
		t.Errorf("%s", v.Usage)
	}
}

// Of what a subagent says only the beginning is told; its tokens are in the account by models.
func TestFollow_Subagents(t *testing.T) {
	f := play(t, "-p hi")
	f.show(begins)
	f.show(strings.Replace(says("m1", "x"), `"type":"assistant"`, `"type":"assistant","parent_tool_use_id":"t1"`, 1))
	f.show(says("m2", "x"))
	f.show(`"type":"result","subtype":"success","is_error":false,"result":"hi","total_cost_usd":1,"usage":{"input_tokens":10,"output_tokens":5},"modelUsage":{"m":{"inputTokens":20,"outputTokens":30},"n":{"inputTokens":1,"outputTokens":1}}`)
	f.ends(0, verdict.OK)
	if a := f.Account(); a.Usage.InputTokens != 21 || a.Usage.OutputTokens != 31 || *a.Usage.CostUSD != 1 {
		t.Errorf("%+v", a.Usage)
	}
}

// Of a session that was resumed, versions from 2.1.260 or so on tell what all of it has cost.
func TestFollow_SessionCost(t *testing.T) {
	whole := `"type":"result","subtype":"success","is_error":false,"result":"hi","total_cost_usd":0.5,"usage":{"input_tokens":10,"output_tokens":5},"modelUsage":{"m":{"inputTokens":110,"outputTokens":15}}`
	f := play(t, "-p --resume "+someID+" hi")
	f.show(begins)
	f.show(whole)
	f.ends(0, verdict.OK)
	if a := f.Account(); a.Usage.CostUSD != nil || a.SessionCost == nil || *a.SessionCost != 0.5 || a.Usage.InputTokens != 10 {
		t.Errorf("%+v", a)
	}
	f = play(t, "-p --resume "+someID+" hi")
	f.show(begins)
	f.show(succeeds)
	f.ends(0, verdict.OK)
	if a := f.Account(); a.SessionCost != nil || a.Usage.CostUSD == nil || *a.Usage.CostUSD != 0.5 {
		t.Errorf("%+v", a)
	}
}

func TestRender(t *testing.T) {
	render := func(f *testFollower, form agent.Form) string {
		var b bytes.Buffer
		if err := f.Render(&b, form); err != nil {
			t.Error(err)
		}
		return b.String()
	}
	for _, c := range []struct{ event, text string }{
		{succeeds, "hi\n"},
		{`"type":"result","subtype":"success","is_error":true,"result":"API Error: 500 x"`, "API Error: 500 x\n"},
		{`"type":"result","subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns (2)"]`, "Error: Reached max turns (2)"},
		{`"type":"result","subtype":"error_max_budget_usd","is_error":true,"errors":["Reached maximum budget ($0.5)"]`, "Error: Exceeded USD budget (0.5)"},
		{`"type":"result","subtype":"error_max_turns","is_error":false,"errors":[]`, "Error: Reached max turns (2)"}, // 2.0.77
		{`"type":"result","subtype":"error_during_execution","is_error":true,"errors":["x"]`, "Execution error"},
		{`"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","errors":["x"]`, ""},
		{`"type":"result","subtype":"success","is_error":false,"result":""`, "\n"},
	} {
		f := play(t, "-p hi --max-turns 2 --max-budget-usd 0.5")
		f.show(begins)
		f.show(c.event)
		f.Judge(verdict.Outcome{}, now)
		if got := render(f, agent.Text); got != c.text {
			t.Errorf("%s: %q, want %q", c.event, got, c.text)
		}
		if got := render(f, agent.JSON); got != line(c.event) {
			t.Errorf("%s: %q", c.event, got)
		}
	}
	f := play(t, "-p hi")
	f.show(`"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: x"]`)
	if v := f.ends(1, verdict.SessionNotFound); v.SessionID == "" || f.Account().Session != "" {
		t.Errorf("the session that was not found is %q, and is on record as %q", v.SessionID, f.Account().Session)
	}
	if got := render(f, agent.Text) + render(f, agent.JSON); got != "" {
		t.Errorf("what fails before a turn begins is said on stderr alone, but stdout has %q", got)
	}
	if got := render(play(t, "-p hi"), agent.Text); got != "" {
		t.Errorf("%q", got)
	}
}

func TestWithout(t *testing.T) {
	for object, want := range map[string]string{
		`{"a":1,"x":{"a":[1, 2]},"b":2}`: `{"a":1,"b":2}`,
		`{"x":1,"b": 2}`:                 `{"b": 2}`,
		`{"a":1,"x":"}"}`:                `{"a":1}`,
		`{"x":1}`:                        `{}`,
		`{"a":{"x":1}}`:                  `{"a":{"x":1}}`,
		`{"a":1}`:                        `{"a":1}`,
		`[1]`:                            `[1]`,
		`{"a":`:                          `{"a":`,
		``:                               ``,
	} {
		if got := string(withoutField([]byte(object), "x")); got != want {
			t.Errorf("%s: %s, want %s", object, got, want)
		}
	}
}

// Requests are answers, retries that were told of, and the last one that failed; not what claude found out by itself.
func TestFollow_Requests(t *testing.T) {
	retry := `"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":500,"error_status":529,"error":"overloaded"`
	refused := `"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"API Error: Overloaded"`
	noLogin := `"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login"`
	starts := func(id string) string {
		return fmt.Sprintf(`"type":"stream_event","event":{"type":"message_start","message":{"id":%q,"usage":{"input_tokens":10}}}`, id)
	}
	for name, tt := range map[string]struct {
		lines []string
		want  int
	}{
		"an answer":                {[]string{begins, says("m1", "a"), says("m1", "b"), succeeds}, 1},
		"two answers":              {[]string{begins, says("m1", "a"), says("m2", "b"), succeeds}, 2},
		"a retry and an answer":    {[]string{begins, retry, says("m1", "a"), succeeds}, 2},
		"retries, and then no":     {[]string{begins, retry, retry, refused}, 3},
		"one that broke off":       {[]string{begins, starts("m1"), retry, starts("m2"), says("m2", "a"), succeeds}, 2},
		"one of which a part came": {[]string{begins, starts("m1"), says("m1", "a"), retry, starts("m2"), says("m2", "b"), succeeds}, 2},
		"a tool in between":        {[]string{begins, calls("m1", "t1"), answers("t1"), retry, says("m2", "b"), succeeds}, 3},
		"while a tool runs":        {[]string{begins, calls("m1", "t1"), retry, answers("t1"), says("m2", "b"), succeeds}, 3},
		"stopped while it waits":   {[]string{begins, retry}, 1},
		"an answer, and then no":   {[]string{begins, says("m1", "a"), refused}, 2},
		"nobody was asked":         {[]string{begins, noLogin}, 0},
		"nothing was said at all":  {nil, 0},
	} {
		f := play(t, "-p hi")
		for _, l := range tt.lines {
			f.show(l)
		}
		if got := f.Account().Requests; got != tt.want {
			t.Errorf("%s: %d requests, want %d", name, got, tt.want)
		}
	}
}

// An interrupted claude reports a cost of 0 for an answer that was cut off, though it has used tokens.
func TestFollow_CostOfTheInterrupted(t *testing.T) {
	f := play(t, "-p hi")
	f.show(begins)
	f.show(says("m1", "hi"))
	f.show(`"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":1,"total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0},"modelUsage":{}`)
	if u := f.Account().Usage; u.CostUSD != nil || u.InputTokens != 10 {
		t.Errorf("%+v", u)
	}
	f = play(t, "-p /help") // nothing was asked of the model
	f.show(begins)
	f.show(`"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":"help","total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0},"modelUsage":{}`)
	if u := f.Account().Usage; u.CostUSD == nil || *u.CostUSD != 0 {
		t.Errorf("%+v", u)
	}
}

func TestFollow_Activity(t *testing.T) {
	f := play(t, "-p hi")
	piece := func(event string) string { return `"type":"stream_event","event":` + event }
	for _, step := range []struct {
		line string
		want agent.Activity
	}{
		{begins, agent.Activity{}},
		{piece(`{"type":"message_start","message":{"id":"m"}}`), agent.Activity{}},
		{piece(`{"type":"content_block_start","content_block":{"type":"thinking","thinking":""}}`), agent.Activity{}},
		{piece(`{"type":"content_block_start","content_block":{"type":"text","text":""}}`), agent.Activity{Doing: agent.Writing}},
		{piece(`{"type":"content_block_delta","delta":{"type":"text_delta","text":"Let"}}`), agent.Activity{Doing: agent.Writing}},
		{piece(`{"type":"content_block_start","content_block":{"type":"tool_use","name":"Bash","input":{}}}`), agent.Activity{Doing: agent.UsingTool, Tool: "Bash"}},
		{`"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"description":"Run it","command":"npm test"}}]}`,
			agent.Activity{Doing: agent.UsingTool, Tool: "Bash", Argument: "npm test"}},
		{`"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"/a/b.go","limit":3}}]}`,
			agent.Activity{Doing: agent.UsingTool, Tool: "Read", Argument: "/a/b.go"}},
		{`"type":"system","subtype":"something_new"`, agent.Activity{Doing: agent.UsingTool, Tool: "Read", Argument: "/a/b.go"}},
		{answers("t2"), agent.Activity{Doing: agent.UsingTool, Tool: "Bash", Argument: "npm test"}},
		{answers("t1"), agent.Activity{}},
	} {
		if got := f.show(step.line).Activity; got != step.want {
			t.Errorf("%s: %+v, want %+v", step.line, got, step.want)
		}
	}
}
