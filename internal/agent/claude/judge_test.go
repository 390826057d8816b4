package claude

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// What the cases and the tables do not have: how an outcome looks as a whole. From runs of 1.0.128, 2.0.77, 2.1.197 and
// 2.1.325.
func TestJudge(t *testing.T) {
	done := line(`"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"API Error: 401 invalid x-api-key","modelUsage":{"m":{"inputTokens":1}},"terminal_reason":"completed"`)
	toolUse := line(`"type":"assistant","message":{"id":"m1","model":"claude-opus-4-8","content":[{"type":"tool_use","id":"t","name":"Bash"}]}`)
	toolResult := line(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"hi"}]}`)
	begun := line(`"type":"system","subtype":"init","claude_code_version":"2.1.325","apiKeySource":"ANTHROPIC_API_KEY"`)
	complains := line(`"type":"assistant","error":"rate_limit","message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":"API Error: Request rejected (429) · Please try again in 30s."}]}`)
	asked := `"usage":{"input_tokens":20,"output_tokens":2},"modelUsage":{"m":{"inputTokens":20,"outputTokens":2}},"terminal_reason":"completed"`
	hook := "SessionEnd hook [./notify.sh; exit 1] failed: API Error: 529 Overloaded\nError: connect ECONNREFUSED\nrate limit reached\n"
	used := `"modelUsage":{"m":{"inputTokens":100,"outputTokens":20}}`
	empty := func(more string) string {
		return line(`"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":"",` + more)
	}
	for name, c := range map[string]struct {
		stdout, stderr string
		code           int
		class          verdict.Class
		rule           string
	}{
		"a good answer, but exit 1":               {done, "", 1, verdict.Unknown, "exit-code"},
		"a good answer, whatever stderr says":     {done, "Error: No messages returned\n", 1, verdict.Unknown, "exit-code"},
		"a good answer, then terminated":          {done, "", 143, verdict.Interrupted, "exit-code"},
		"killed, as a shell says":                 {toolUse, "Killed\n", 137, verdict.Crash, "exit-code"},
		"out of memory":                           {"", "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n", 134, verdict.Crash, "exit-code"},
		"no node":                                 {"", "/usr/bin/env: ‘node’: No such file or directory\n", 127, verdict.ToolMissing, "exit-code"},
		"a prompt too long for the system":        {"", "bash: /usr/bin/claude: Argument list too long\n", 126, verdict.TooLarge, "exit-code"},
		"refused, in words nobody knows":          {failed("Nope.", `,"stop_reason":"refusal"`), "", 1, verdict.Refused, "stop_reason refusal"},
		"a limit of a plan without credits":       {failed("Your org is out of usage · add funds to continue", `,"api_error":"usage_limit_reached"`), "", 1, verdict.Billing, "credit"},
		"a limit of a plan":                       {failed("You've hit your weekly limit", `,"api_error":"usage_limit_reached"`), "", 1, verdict.UsageLimit, "api_error usage_limit_reached"},
		"cut by the context window":               {failed("API Error: The model has reached its context window limit.", `,"api_error":"max_output_tokens"`), "", 1, verdict.TooLarge, "prompt-too-long"},
		"cannot start, sign in":                   {line(`"type":"result","subtype":"error_during_execution","is_error":true,"errors":["x"],"startup_failure_reason":"org_config_refused"`), "", 1, verdict.Auth, "startup_failure_reason org_config_refused"},
		"cannot start, the session is held":       {line(`"type":"result","subtype":"error_during_execution","is_error":true,"errors":["x"],"startup_failure_reason":"session_held_by_background"`), "", 1, verdict.SessionBusy, "startup_failure_reason session_held_by_background"},
		"cannot start, settings":                  {line(`"type":"result","subtype":"error_during_execution","is_error":true,"errors":["x"],"startup_failure_reason":"config_file_invalid"`), "", 1, verdict.InvalidRequest, "startup_failure_reason config_file_invalid"},
		"a hook has the last word":                {line(`"type":"result","subtype":"success","is_error":false,"result":"Hello there.",` + used + `,"terminal_reason":"stop_hook_prevented"`), "", 0, verdict.OK, "result"},
		"a hook has the last word, and no answer": {empty(used + `,"terminal_reason":"stop_hook_prevented"`), "", 0, verdict.Blocked, "stop_hook_prevented"},
		"2.0.77: an unknown command":              {empty(`"modelUsage":{}`), "", 0, verdict.Blocked, "nothing-done"},
		"2.0.77: an unknown command, as text":     {"\n", "", 0, verdict.Blocked, "nothing-done"},
		"interrupted, as text":                    {"", "", 0, verdict.Interrupted, "no-result"},
		"2.1.90: interrupted":                     {line(`"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}`) + line(`"type":"result","subtype":"error_during_execution","is_error":true,"errors":["[ede_diagnostic] result_type=user"]`), "", 1, verdict.Interrupted, "interrupted"},
		"2.1.90: interrupted, the result alone":   {line(`"type":"result","subtype":"error_during_execution","is_error":true,"errors":["[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=tool_use"]`), "", 0, verdict.Interrupted, "interrupted"},
		"2.0.77: a hook stopped it after a tool":  {toolUse + toolResult + empty(used), "", 0, verdict.Blocked, "stopped"},
		"nothing to say after a tool":             {toolUse + toolResult + line(`"type":"assistant","message":{"id":"m2","model":"claude-opus-4-8","content":[]}`) + empty(used), "", 0, verdict.OK, "result"},
		"nothing to say, and it says that it did": {toolUse + toolResult + empty(used+`,"terminal_reason":"completed"`), "", 0, verdict.OK, "result"},
		"2.0.77: nothing to say after a tool, and more was used than was seen": {toolUse + toolResult + empty(`"usage":{"input_tokens":20},`+used), "", 0, verdict.OK, "result"},

		"an empty answer":                                {begun + empty(asked), "", 0, verdict.BadOutput, "empty-answer"},
		"a blank answer":                                 {begun + strings.Replace(empty(asked), `"result":""`, `"result":"\n"`, 1), "", 0, verdict.BadOutput, "empty-answer"},
		"an empty answer after a tool":                   {begun + toolUse + toolResult + empty(asked), "", 0, verdict.OK, "result"},
		"an empty answer, of which a tool has made JSON": {begun + empty(asked+`,"structured_output":{"a":1}`), "", 0, verdict.OK, "result"},
		"an empty answer, the result alone":              {strings.Replace(empty(asked), `"num_turns":2`, `"num_turns":1`, 1), "", 0, verdict.BadOutput, "empty-answer"},
		"2.1.325: an empty answer, the result alone":     {empty(strings.Replace(asked, `"output_tokens":2}`, `"output_tokens":2,"output_tokens_details":{"thinking_tokens":0}}`, 1)), "", 0, verdict.BadOutput, "empty-answer"},
		"2.1.212: an empty answer, the result alone":     {empty(asked + `,"ttft_stream_ms":1309`), "", 0, verdict.BadOutput, "empty-answer"},
		"2.1.212: the same, with a newline":              {strings.Replace(empty(asked+`,"ttft_stream_ms":0`), `"result":""`, `"result":"\n"`, 1), "", 0, verdict.BadOutput, "empty-answer"},
		"2.1.178: a tool has worked, the result alone":   {empty(asked + `,"ttft_stream_ms":1183,"ttft_ms":1216`), "", 0, verdict.OK, "result"},
		"2.1.212: tools have worked, the result alone":   {strings.Replace(empty(asked+`,"ttft_stream_ms":1183`), `"num_turns":2`, `"num_turns":3`, 1), "", 0, verdict.OK, "result"},
		"a tool may have worked, the result alone":       {empty(asked), "", 0, verdict.OK, "result"},
		"/compact, which has nothing to say":             {begun + empty(`"usage":{"input_tokens":0,"output_tokens":0},`+used), "", 0, verdict.OK, "result"},
		"/clear, which uses nothing":                     {begun + empty(`"local_command":"clear","modelUsage":{}`), "", 0, verdict.OK, "local_command"},
		"a command of its own that is not known":         {begun + line(`"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":"Unknown command: /x","local_command":"x","modelUsage":{}`), "", 0, verdict.Blocked, "nothing-done"},
		"throttled, without a result":                    {begun + complains, "", 1, verdict.RateLimit, "rejected"},
		"throttled, without a result, as an array":       {"[" + strings.TrimSpace(begun) + "," + strings.TrimSpace(complains) + "]\n", "", 1, verdict.RateLimit, "rejected"},
		"it complained, went on, and crashed":            {begun + complains + toolResult, "", 1, verdict.Unknown, "exit-code"},
		"it complained, and was interrupted":             {begun + complains, "", 0, verdict.Interrupted, "no-result"},
		"a hook complains after a failure, as text":      {"Error: Reached max turns (2)", hook, 1, verdict.LimitReached, "max-turns"},
		"a hook complains after an unknown failure":      {"", "Error: something else\n" + hook, 1, verdict.Unknown, "exit-code"},
		"a hook complains, and no more is known":         {"", hook, 1, verdict.Unknown, "exit-code"},
		"a helper complains":                             {"", "apiKeyHelper failed: exited 1: curl: (7) Failed to connect: Connection refused\nError: something else\n", 1, verdict.Unknown, "exit-code"},
		"throttled, says stderr":                         {"", "Error: HTTP 429\n" + hook, 1, verdict.RateLimit, "status-429"},
		"throttled, says stderr, after it began":         {begun, "HTTP 429\n", 1, verdict.RateLimit, "status-429"},
		"stderr quotes, after the model has spoken":      {begun + toolUse, "HTTP 429\n", 1, verdict.Unknown, "exit-code"},
		"stderr quotes, after a tool":                    {begun + toolResult, "HTTP 429\n", 1, verdict.Unknown, "exit-code"},
		"stderr quotes, and something was printed":       {"I looked at the log.\n", "HTTP 429\n", 1, verdict.Unknown, "exit-code"},
		"stderr is a log":                                {"", "2026-11-15T15:00:44.187Z [DEBUG] Hook output: HTTP 429\nHTTP 429\n", 1, verdict.Unknown, "exit-code"},
		"a good answer, exit 1, and stderr quotes":       {done, "HTTP 429\n", 1, verdict.Unknown, "exit-code"},
		"structure goes before words":                    {begun + failed("something", `,"api_error_status":401`), "HTTP 429\n", 1, verdict.Auth, "api_error_status 401"},
		"a result that says nothing, and stderr does":    {begun + failed(""), "ECONNRESET\n", 1, verdict.Network, "errno"},
		"2.0.77: too many turns, as text":                {"Error: Reached max turns (2)", "", 0, verdict.LimitReached, "no-answer"},
		"interrupted in a pause, as text":                {"Execution error", "", 0, verdict.Interrupted, "no-answer"},
		"2.0.77: no answer, and stderr says why":         {"Execution error", "Could not parse message into JSON: {not json\n", 0, verdict.BadOutput, "malformed"},
		"an answer that says so":                         {"Error: Reached max turns (2)\n", "", 0, verdict.OK, "exit-0"},
		"an answer that says so, twice":                  {"Execution error\nExecution error", "", 0, verdict.OK, "exit-0"},
		"a result that was cut":                          {`{"type":"result","subtype":"success","is_error":false,"result":"He`, "", 0, verdict.BadOutput, "torn"},
		"2.1.325: a result that was cut":                 {`{"duration_api_ms":12,"stop_reason":"end_turn","session_id":"x`, "", 0, verdict.BadOutput, "torn"},
		"an answer that is JSON":                         {`{"type":"object","properties":{` + "\n", "", 0, verdict.OK, "exit-0"},
		"a result on several lines":                      {strings.ReplaceAll(failed("API Error: 529 Overloaded."), ",", ",\n  "), "", 1, verdict.Overloaded, "overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			v := judged(c.stdout, c.stderr, c.code)
			if v.Class != c.class || v.Rule != c.rule || v.Retryable != c.class.Retryable() {
				t.Errorf("%s, retryable %v, by %s: %s", v.Class, v.Retryable, v.Rule, v.Evidence)
			}
			if v.Class != verdict.OK && v.Evidence == "" {
				t.Error("no evidence")
			}
		})
	}
}

// The time to come back is read where it stands.
func TestJudge_Hint(t *testing.T) {
	begun := line(`"type":"system","subtype":"init","claude_code_version":"2.1.325","apiKeySource":"ANTHROPIC_API_KEY"`)
	retry := line(`"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":500,"error_status":429,"error":"rate_limit"`)
	const text = "API Error: Request rejected (429) · slow down"
	rejected := failed(text, `,"api_error_status":429`)
	for name, c := range map[string]struct {
		stdout, stderr string
		wait           time.Duration
		inferred       bool
	}{
		"in the text":                         {failed("API Error: Request rejected (429) · Please try again in 30s."), "retry-after: 17\n", 30 * time.Second, false},
		"on stderr":                           {"", "Error: 429 Too Many Requests\nretry-after: 17\n", 17 * time.Second, false},
		"on stderr, of a failure in a stream": {begun + retry + rejected, "retry-after: 17\n", 17 * time.Second, false},
		"on stderr, of a failure as text":     {text + "\n", "retry-after: 17\n", 17 * time.Second, false},
		"on stderr, but a hook's":             {begun + retry + rejected, "SessionEnd hook [x] failed: retry-after: 17\nretry-after: 17\n", 0, false},
		"nowhere":                             {begun + retry + rejected, "", 0, false},
		"it was told to wait for long":        {begun + rejected, "", time.Minute, true},
		"so it was, says stderr":              {begun + rejected, "retry-after: 120\n", 2 * time.Minute, false},
		"a subscriber's":                      {strings.Replace(begun, "ANTHROPIC_API_KEY", "none", 1) + rejected, "", 0, false},
		"a version that does not say":         {strings.Replace(begun, "2.1.325", "2.0.77", 1) + rejected, "", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := judged(c.stdout, c.stderr, 1)
			if v.Class != verdict.RateLimit || v.Hint.Wait(now) != c.wait || v.Hint.Inferred != c.inferred {
				t.Errorf("%s by %s, %+v", v.Class, v.Rule, v.Hint)
			}
		})
	}
	// It gives up at once also where it may not try again.
	p := New([]string{"claude", "-p"}, []string{"CLAUDE_CODE_MAX_RETRIES=0"})
	if v := p.Judge(verdict.Outcome{ExitCode: 1, Stdout: verdict.ExcerptOf(begun + rejected)}, now); !v.Hint.IsZero() {
		t.Errorf("%+v", v.Hint)
	}
}

// A form that shows nothing of the tools has not failed because the last answer is empty.
func TestJudge_EmptyAsPlainText(t *testing.T) {
	for _, args := range [][]string{{"-p", "--no-such-option"}, {"--no-such-option", "-p", "x"}, {"-p", "x", "--later=1"}} {
		p := New(append([]string{"claude"}, args...), []string{})
		plan, err := p.Plan(agent.Turn{})
		if err != nil || !plan.Plain {
			t.Fatalf("%+v, %v", plan, err)
		}
		o := verdict.Outcome{Stdout: verdict.ExcerptOf("\n")}
		f := p.Follow(plan)
		f.Line(agent.Line{})
		for _, v := range []verdict.Verdict{f.Judge(o, now), p.Judge(o, now)} {
			if v.Class != verdict.OK {
				t.Errorf("%q: %s by %s", args, v.Class, v.Rule)
			}
		}
	}
}

// To judge does not change what was said.
func TestJudge_KeepsTheAnswer(t *testing.T) {
	for _, answer := range []string{"{\n  \"type\": \"result\",\n  \"n\": 1\n}", "[\n  1,\n  2\n]", "{ not JSON", "text"} {
		f := New([]string{"claude", "-p"}, []string{}).Follow(agent.Plan{})
		for l := range strings.SplitSeq(answer, "\n") {
			f.Line(agent.Line{Text: []byte(l)})
		}
		if v := f.Judge(verdict.Outcome{Stdout: verdict.ExcerptOf(answer + "\n")}, now); v.Class != verdict.OK {
			t.Errorf("%q: %s by %s", answer, v.Class, v.Rule)
		}
		if !f.Answer().IsPrinted() {
			t.Errorf("%q became %q", answer, f.Answer())
		}
	}
}
