package gemini

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

func event1(kind, fields string) string {
	return fmt.Sprintf(`{"type":%q,"timestamp":"2026-11-15T00:22:26.324Z",%s}`, kind, fields)
}

func says(text string) string {
	return event1("message", fmt.Sprintf(`"role":"assistant","content":%q,"delta":true`, text))
}

var (
	begins    = event1("init", `"session_id":"`+id+`","model":"gemini-2.5-flash"`)
	asks      = event1("message", `"role":"user","content":"say hi"`)
	calls     = event1("tool_use", `"tool_name":"run_shell_command","tool_id":"t1","parameters":{"command":"make test"}`)
	called    = event1("tool_result", `"tool_id":"t1","status":"success","output":"ok"`)
	succeeds  = event1("result", `"status":"success","stats":{"total_tokens":1070,"input_tokens":1000,"output_tokens":50,"cached":400,"input":600,"models":{"gemini-2.5-flash":{"total_tokens":1070,"input_tokens":1000,"output_tokens":50,"cached":400,"input":600}}}`)
	idles     = event1("result", `"status":"success","stats":{"total_tokens":0,"input_tokens":0,"output_tokens":0,"models":{}}`)
	blocked   = event1("error", `"severity":"warning","message":"Agent execution blocked: not today"`)
	loops     = event1("error", `"severity":"warning","message":"Loop detected, stopping execution"`)
	invalid   = event1("error", `"severity":"error","message":"The model returned an empty response with no text or thoughts. This may be a transient API issue; please try again."`)
	cut       = event1("error", `"severity":"error","message":"Model stream ended without a finish reason."`)
	failsEnd  = event1("result", `"status":"error","stats":{"input_tokens":0,"output_tokens":0,"models":{}}`)
	failsWith = func(message string) string {
		return event1("result", fmt.Sprintf(`"status":"error","error":{"type":"Error","message":%q},"stats":{"input_tokens":0,"output_tokens":0,"models":{}}`, message))
	}
)

// followed is a follower that has read lines.
func followed(t *testing.T, args string, lines ...string) *follower {
	t.Helper()
	p := New(words("gemini "+args), nil, t.TempDir())
	plan, err := p.Plan(agent.Turn{})
	must.OK(t, err)
	f := p.Follow(plan).Reader.(*follower)
	all := agent.Lines{Each: func(l agent.Line) { f.Line(l) }}
	all.Write([]byte(strings.Join(lines, "\n") + "\n"))
	all.Close()
	return f
}

// What the text form prints, byte for byte.
func TestRender(t *testing.T) {
	for name, tt := range map[string]struct {
		lines        []string
		text, answer string
	}{
		"an answer":            {[]string{begins, asks, says("hel"), says("lo"), succeeds}, "hello\n", "hello"},
		"that ends its line":   {[]string{begins, says("hello\n"), succeeds}, "hello\n", "hello\n"},
		"around a tool":        {[]string{begins, says("First, a tool."), calls, called, says("Done."), succeeds}, "First, a tool.\nDone.\n", "Done."},
		"before a tool's call": {[]string{begins, says("First, a tool.\n"), calls, called, succeeds}, "First, a tool.\n", ""},
		"only a tool":          {[]string{begins, calls, called, succeeds}, "", ""},
		"an empty piece":       {[]string{begins, says("hello"), says(""), succeeds}, "hello\n", "hello"},
		"one that breaks off":  {[]string{begins, says("hel"), failsWith("[API Error: terminated]")}, "hel", ""},
		"one that is no use":   {[]string{begins, says("hel"), cut, failsEnd}, "hel\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := followed(t, "-p hi", tt.lines...)
			var out, answer bytes.Buffer
			must.OK(t, f.Render(&out, agent.Text))
			f.Answer().WriteTo(&answer)
			if out.String() != tt.text || answer.String() != tt.answer {
				t.Errorf("%q, the answer %q; want %q, %q", &out, &answer, tt.text, tt.answer)
			}
		})
	}
}

// Exit 0 is believed only where there is an answer, or work of a tool.
func TestJudge_ExitZero(t *testing.T) {
	for name, tt := range map[string]struct {
		args  string
		lines []string
		want  verdict.Class
	}{
		"an answer":                                  {"-p hi", []string{begins, says("hello"), succeeds}, verdict.OK},
		"work without a word":                        {"-p hi", []string{begins, calls, called, succeeds}, verdict.OK},
		"nothing":                                    {"-p hi", []string{begins, asks, succeeds}, verdict.BadOutput},
		"nothing was asked":                          {"-p hi", []string{begins, asks, idles}, verdict.Blocked},
		"a hook has stopped it":                      {"-p hi", []string{begins, asks, blocked, idles}, verdict.Blocked},
		"a hook after its answer":                    {"-p hi", []string{begins, says("hello"), blocked, succeeds}, verdict.OK},
		"a loop":                                     {"-p hi", []string{begins, says("hello"), loops, succeeds}, verdict.LimitReached},
		"an answer of no use":                        {"-p hi", []string{begins, asks, invalid, failsEnd}, verdict.BadOutput},
		"a stream that was cut":                      {"-p hi", []string{begins, says("hel"), cut, failsEnd}, verdict.Network},
		"no result":                                  {"-p hi", []string{begins, says("hel")}, verdict.Interrupted},
		"not even an event":                          {"-o json -p hi", []string{""}, verdict.Interrupted},
		"a document that breaks off":                 {"-o json -p hi", []string{"{", `  "session_id": "` + id + `",`, `  "response": "hel`}, verdict.Interrupted},
		"0.40: every stream broke off":               {"-o json -p hi", []string{statsOf(8, 0, 0, 0)}, verdict.Network},
		"0.40: so it did with errors in between":     {"-o json -p hi", []string{statsOf(6, 2, 0, 0)}, verdict.Network},
		"0.40: so it did after tools, without a use": {"-o json -p hi", []string{statsOf(6, 0, 0, 2)}, verdict.Network},
		"a service that does not tell what was used": {"-o json -p hi", []string{statsOf(3, 0, 0, 2)}, verdict.OK},
		"the same with errors":                       {"-o json -p hi", []string{statsOf(5, 4, 0, 0)}, verdict.OK},
		"a stream broke off, and another did not":    {"-o json -p hi", []string{statsOf(4, 0, 15, 0)}, verdict.OK},
		"text":    {"--no-such -p hi", []string{"hello"}, verdict.OK},
		"no text": {"--no-such -p hi", []string{""}, verdict.OK},
	} {
		t.Run(name, func(t *testing.T) {
			v := followed(t, tt.args, tt.lines...).Judge(verdict.Outcome{}, time.Now())
			if v.Class != tt.want || v.Retryable != tt.want.Retryable() || v.Class != verdict.OK && v.Evidence == "" {
				t.Errorf("%s, retryable %v, by %s (%q)", v.Class, v.Retryable, v.Rule, v.Evidence)
			}
		})
	}
}

// statsOf is what gemini prints with -o json after so many requests, errors among them, tokens and tool calls.
func statsOf(requests, errors, tokens, calls int) string {
	return fmt.Sprintf("{\n"+`  "session_id": "`+id+`", "response": "This is This is ", "stats": {"models": {"flash-lite": {"roles": {"utility_router": {"totalRequests": 9, "tokens": {"total": 7}}}},
		"flash": {"api": {"totalRequests": %d}, "roles": {"main": {"totalRequests": %[1]d, "totalErrors": %d, "tokens": {"total": %d}}}}}, "tools": {"totalCalls": %d}}
}`, requests, errors, tokens, calls)
}

// What failed runs of other versions and forms say.
func TestJudge_Failures(t *testing.T) {
	const report = "Error when talking to Gemini API Full report available at: /tmp/gemini-client-error-x.json "
	const stack = "\n    at x (file:///y.js:1:2)"
	for name, tt := range map[string]struct {
		code   int
		lines  []string
		stderr string
		want   verdict.Class
		hint   time.Duration
	}{
		"the reason is on stderr alone":      {1, []string{begins, failsWith("[API Error: An unknown error occurred.]")}, report + "RetryableQuotaError: Resource has been exhausted.\nSuggested retry after 2s." + stack + " {\n  cause: {\n    code: 429,\n  },\n  retryDelayMs: 2000,\n  status: 429\n}\n", verdict.RateLimit, 2 * time.Second},
		"a plan is used up":                  {173, []string{begins, failsWith("[API Error: You have exhausted your capacity on this model.]")}, report + "TerminalQuotaError: You have exhausted your capacity on this model." + stack + " {\n  cause: {\n    code: 429,\n    details: []\n  },\n  retryDelayMs: 7200000,\n  reason: 'QUOTA_EXHAUSTED',\n  status: 429\n}\n", verdict.UsageLimit, 2 * time.Hour},
		"a model at capacity":                {173, nil, report + "TerminalQuotaError: No capacity available for model gemini-3-pro." + stack + " {\n  reason: 'MODEL_CAPACITY_EXHAUSTED',\n  status: 429\n}\n", verdict.Overloaded, 0},
		"no quota at all":                    {1, []string{begins, failsWith("[API Error: Quota exceeded for metric: x, limit: 0, model: gemini-3-pro]")}, "", verdict.Billing, 0},
		"a quota of a minute":                {173, []string{begins, failsWith("[API Error: You exceeded your current quota, please check your plan and billing details.\nPlease retry in 22.5s.]\nPlease wait and try again later.")}, "", verdict.RateLimit, 22500 * time.Millisecond},
		"credits":                            {173, []string{begins, failsWith("[API Error: Your prepayment credits are depleted.]")}, "", verdict.Billing, 0},
		"a key that is wrong":                {144, []string{begins, failsWith(`[API Error: {"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]`)}, "", verdict.Auth, 0},
		"a bad request":                      {144, []string{begins, failsWith("[API Error: Invalid JSON payload received.]")}, "", verdict.InvalidRequest, 0},
		"a body in a body":                   {1, []string{begins, failsWith(`[API Error: {"error":{"message":"{\"error\":{\"code\":503,\"message\":\"The model is overloaded.\"}}","code":503}}]`)}, "", verdict.Overloaded, 0},
		"only the exit code":                 {247, []string{begins}, "", verdict.ServerError, 0},
		"no connection":                      {1, []string{begins, failsWith("[API Error: exception TypeError: fetch failed sending request]")}, "", verdict.Network, 0},
		"a page in place of an answer":       {1, []string{begins, failsWith("[API Error: Incomplete JSON segment at the end]")}, "", verdict.BadOutput, 0},
		"broken events":                      {1, []string{begins, failsWith("[API Error: Expected property name or '}' in JSON at position 1]")}, "", verdict.BadOutput, 0},
		"its last turn":                      {53, []string{begins, calls, called, failsWith("[API Error: Reached max session turns for this session. Increase the number of turns by specifying maxSessionTurns in settings.json.]")}, "", verdict.LimitReached, 0},
		"a tool says it hit a limit":         {1, []string{begins, calls, called}, "Error executing tool run_shell_command: HTTP 429 rate limit exceeded\n", verdict.Unknown, 0},
		"no login":                           {41, nil, "Please set an Auth method in your /home/me/.gemini/settings.json or specify one of the following environment variables before running: GEMINI_API_KEY, GOOGLE_GENAI_USE_VERTEXAI, GOOGLE_GENAI_USE_GCA\n", verdict.Auth, 0},
		"a directory that is not trusted":    {55, nil, "\x1b[31mGemini CLI is not running in a trusted directory. To proceed, use --skip-trust.\x1b[0m\n", verdict.InvalidRequest, 0},
		"settings that cannot be read":       {52, nil, "Error in /home/me/.gemini/settings.json: Unexpected token } in JSON\nPlease fix the configuration file(s) and try again.\n", verdict.InvalidRequest, 0},
		"no sessions":                        {42, nil, "Error resuming session: No previous sessions found for this project.\n", verdict.SessionNotFound, 0},
		"a session that exists":              {42, nil, "Error starting session: Session ID \"x\" already exists. Use --resume to resume it, or provide a different ID.\n", verdict.InvalidRequest, 0},
		"no input":                           {42, nil, "No input provided via stdin. Input can be provided by piping data into gemini or using the --prompt option.\n", verdict.InvalidRequest, 0},
		"wrong use":                          {1, nil, "Unknown arguments: no-such, noSuch\nUsage: gemini [options] [command]\n", verdict.InvalidRequest, 0},
		"cancelled":                          {130, []string{begins, failsWith("Operation cancelled.")}, "", verdict.Interrupted, 0},
		"a failure that is printed twice":    {53, nil, "{\n  \"session_id\": \"" + id + "\",\n  \"error\": {\n    \"type\": \"FatalTurnLimitedError\",\n    \"message\": \"Reached max session turns for this session.\",\n    \"code\": 53\n  }\n}\n[ERROR] {\n  \"session_id\": \"" + id + "\",\n  \"error\": {\n    \"type\": \"FatalTurnLimitedError\",\n    \"message\": \"Reached max session turns for this session.\",\n    \"code\": 53\n  }\n}\n", verdict.LimitReached, 0},
		"what is not understood":             {1, nil, "Something else.\n", verdict.Unknown, 0},
		"plain words":                        {1, nil, "Error: connect ECONNREFUSED 127.0.0.1:443\n", verdict.Network, 0},
		"a report that could not be written": {1, nil, "Error when talking to Gemini API Additionally, failed to write detailed error report: Error: EACCES\nOriginal error that triggered report generation: _ApiError: {\"error\":{\"code\":500,\"message\":\"Internal\"}}" + stack + " {\n  status: 500\n}\n", verdict.ServerError, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := followed(t, "-p hi", tt.lines...)
			v := f.Judge(verdict.Outcome{ExitCode: tt.code, Stderr: verdict.ExcerptOf("Ripgrep is not available. Falling back to GrepTool.\n" + tt.stderr)}, time.Now())
			if v.Class != tt.want || v.Retryable != tt.want.Retryable() || v.Evidence == "" || v.Hint.After != tt.hint {
				t.Errorf("%s, retryable %v, after %v, by %s (%q)", v.Class, v.Retryable, v.Hint.After, v.Rule, v.Evidence)
			}
		})
	}
}

// Another session than the one to resume is no success.
func TestJudge_AnotherSession(t *testing.T) {
	f := followed(t, "-p hi -r 00000000-0000-4000-8000-000000000000", begins, says("hello"), succeeds)
	if v := f.Judge(verdict.Outcome{}, time.Now()); v.Class != verdict.SessionNotFound {
		t.Errorf("%s by %s", v.Class, v.Rule)
	}
}

// What the caller sees, and what the engine learns, line by line.
func TestLine(t *testing.T) {
	f := followed(t, "-p hi -o stream-json")
	for i, tt := range []struct {
		line string
		want agent.LineInfo
	}{
		{"npm notice", agent.LineInfo{Foreign: true}},
		{begins, agent.LineInfo{}},
		{asks, agent.LineInfo{}},
		{says("First."), agent.LineInfo{Answered: true, Activity: agent.Activity{Doing: agent.Writing}}},
		{calls, agent.LineInfo{Answered: true, Tools: 1, Continues: true, Activity: agent.Activity{Doing: agent.UsingTool, Tool: "run_shell_command", Argument: "make test"},
			Begun: agent.Activity{Doing: agent.UsingTool, Tool: "run_shell_command", Argument: "make test"}}},
		{called, agent.LineInfo{Continues: true}},
		{invalid, agent.LineInfo{Show: agent.Hold, Continues: true}},
		{says("Done."), agent.LineInfo{Answered: true, Activity: agent.Activity{Doing: agent.Writing}}},
		{succeeds, agent.LineInfo{Delivered: true, Activity: agent.Activity{Doing: agent.Writing}}},
	} {
		if i > 0 {
			tt.want.Models.Begun = "gemini-2.5-flash"
		}
		if tt.want.Delivered {
			tt.want.Models.Used = "gemini-2.5-flash"
		}
		got := f.Line(agent.Line{Text: []byte(tt.line)})
		got.Calls = nil // see TestCalls of the registry
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("line %d: %+v, want %+v", i, got, tt.want)
		}
	}
}

func TestExitCode(t *testing.T) {
	for _, tt := range []struct {
		args       string
		code, want int
	}{
		{"-p hi", 144, 1}, {"-p hi", 0, 0}, {"-p hi", 41, 41}, {"-p hi", 53, 53}, {"-p hi -o text", 173, 1},
		{"-p hi -o stream-json", 144, 144}, {"-p hi -o json", 173, 173}, {"-p hi --no-such", 7, 7},
	} {
		if got := followed(t, tt.args).exitCode(tt.code); got != tt.want {
			t.Errorf("gemini %s: %d becomes %d", tt.args, tt.code, got)
		}
	}
}

// A response of any length in a document is the answer.
func TestAnswer_LongDocument(t *testing.T) {
	long := strings.Repeat(`a "long" answer\n`, 40_000)
	f := followed(t, "-o json -p hi", "{", `  "session_id": "`+id+`",`, responseBegins+strings.ReplaceAll(strings.ReplaceAll(long, `\`, `\\`), `"`, `\"`)+`",`, `  "stats": {`, `    "models": {"m": {"tokens": {"prompt": 10, "candidates": 5, "total": 15}}}`, "  }", "}")
	v := f.Judge(verdict.Outcome{}, time.Now())
	if v.Class != verdict.OK || v.SessionID != id || f.Account().Usage.InputTokens != 10 || !strings.HasPrefix(f.Answer().String(), "a ") {
		t.Errorf("%+v, %+v, %.100q", v, f.Account(), f.Answer())
	}
}
