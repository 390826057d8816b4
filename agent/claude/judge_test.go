package claude

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/verdict"
)

// What the cases and the tables do not have: how an outcome looks as a whole. From runs of 1.0.128, 2.0.77, 2.1.197 and
// 2.1.325.
func TestJudge(t *testing.T) {
	done := line(`"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"API Error: 401 invalid x-api-key","modelUsage":{"m":{"inputTokens":1}},"terminal_reason":"completed"`)
	toolUse := line(`"type":"assistant","message":{"id":"m1","model":"claude-opus-4-8","content":[{"type":"tool_use","id":"t","name":"Bash"}]}`)
	toolResult := line(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"hi"}]}`)
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
		"a good answer, and stderr says why not":  {done, "Error: No messages returned\n", 1, verdict.BadOutput, "stumbled"},
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
		"2.0.77: too many turns, as text":         {"Error: Reached max turns (2)", "", 0, verdict.LimitReached, "no-answer"},
		"interrupted in a pause, as text":         {"Execution error", "", 0, verdict.Interrupted, "no-answer"},
		"2.0.77: no answer, and stderr says why":  {"Execution error", "Could not parse message into JSON: {not json\n", 0, verdict.BadOutput, "malformed"},
		"an answer that says so":                  {"Error: Reached max turns (2)\n", "", 0, verdict.OK, "exit-0"},
		"an answer that says so, twice":           {"Execution error\nExecution error", "", 0, verdict.OK, "exit-0"},
		"a result that was cut":                   {`{"type":"result","subtype":"success","is_error":false,"result":"He`, "", 0, verdict.BadOutput, "torn"},
		"2.1.325: a result that was cut":          {`{"duration_api_ms":12,"stop_reason":"end_turn","session_id":"x`, "", 0, verdict.BadOutput, "torn"},
		"an answer that is JSON":                  {`{"type":"object","properties":{` + "\n", "", 0, verdict.OK, "exit-0"},
		"a result on several lines":               {strings.ReplaceAll(failed("API Error: 529 Overloaded."), ",", ",\n  "), "", 1, verdict.Overloaded, "overloaded"},
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
