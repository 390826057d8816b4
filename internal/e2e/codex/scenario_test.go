//go:build linux

package codex_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// older is the last codex of those that give up at any 429, and ask again where that cannot help.
const older = "0.160.1"

// ask is a command line that asks, work one that may use tools without a sandbox, which not every machine has.
func ask(more ...string) []string { return append([]string{"exec", "--skip-git-repo-check"}, more...) }
func work(more ...string) []string {
	return ask(append([]string{"--dangerously-bypass-approvals-and-sandbox"}, more...)...)
}

// soon makes what belay waits short.
var soon = []string{"--base-delay", "100ms"}

var scenarios = []stage.Scenario{
	{Name: "Success", Quick: true, Script: "200(in=100, out=7)", Requests: 1, Stdout: answer,
		Check: func(t *testing.T, r *stage.Ran) {
			r.Used(100, 7)
			if !stage.IsUUID(r.Result.SessionID) || r.Result.Waited != 0 || r.Result.Usage.Cost != nil {
				t.Errorf("%+v", r.Result)
			}
		}},
	{Name: "ThrottledTwice", Quick: true, Script: "429(retry-after=1)x2, 200", Requests: 3, Stdout: answer,
		Older: stage.Older{older: {Attempts: 3}}},
	{Name: "ThrottledTwiceWithoutHint", Script: "429x2, 200", Flags: soon, Requests: 3, Attempts: 3, Stdout: answer},
	{Name: "ThrottledForEver", Quick: true, Script: "429(retry-after=3)x*", Flags: []string{"--max-wait", "8s"}, Code: 75, Class: "rate_limit", Requests: 3,
		Older: stage.Older{older: {Attempts: 2, Requests: 2}},
		Check: func(t *testing.T, r *stage.Ran) {
			if !r.Result.Retryable || r.Result.Waited < 5 {
				t.Errorf("%+v", r.Result)
			}
		}},
	{Name: "ThrottledForEverWithoutHint", Script: "429x*", Flags: []string{"--max-wait", "6s"}, Code: 75, Class: "rate_limit", Requests: 2, Attempts: 2},
	{Name: "ThrottledForLong", Script: "429(retry-after=120)x*", Flags: []string{"--max-wait", "3s"}, Code: 75, Class: "rate_limit", Requests: 1},
	{Name: "ThrottledInside", Script: "error-mid(code=rate_limit_exceeded)x2, 200", Requests: 3, Stdout: answer,
		Check: func(t *testing.T, r *stage.Ran) {
			if r.Result.Waited < 2.9 { // it says: try again in 1.5s
				t.Errorf("waited %v", r.Result.Waited)
			}
		}},
	{Name: "UsageLimit", Quick: true, Script: "usage-limit(resets=3h)x*", Code: 75, Class: "usage_limit", Requests: 1, Check: resetsAt(3 * time.Hour)},
	{Name: "WeeklyLimit", Script: "usage-limit(resets=3d)x*", Code: 75, Class: "usage_limit", Requests: 1, Check: resetsAt(3 * 24 * time.Hour)},
	{Name: "UsageLimitThatFits", Script: "usage-limit(resets=10s), 200", Requests: 2, Attempts: 2, Stdout: answer},
	{Name: "Overloaded", Script: "overloaded x2, 200", Requests: 3, Stdout: answer},
	{Name: "OverloadedForEver", Script: "overloaded x*", Code: 75, Class: "overloaded", Requests: 10, Attempts: 2},
	{Name: "OverloadedMid", Script: "overloaded-mid, 200", Flags: soon, Requests: 2, Attempts: 2, Stdout: answer},
	{Name: "ServerErrorForEver", Quick: true, Script: "500x*", Flags: soon, Code: 75, Class: "server_error", Requests: 20},
	{Name: "GatewayError", Script: `503(body="<html>busy</html>")x2, 200`, Requests: 3, Stdout: answer},
	{Name: "BadKey", Quick: true, Script: "401x*", Code: 78, Class: "auth", Requests: 1},
	{Name: "Forbidden", Script: "403x*", Code: 78, Class: "auth", Requests: 1},
	{Name: "NoCredit", Script: "429(code=insufficient_quota, type=insufficient_quota)x*", Flags: []string{"--max-wait", "3s"}, Code: 78, Class: "billing", Requests: 1,
		Older: stage.Older{"0.150.1": {Code: 75, Class: "rate_limit"}}},
	{Name: "BadModel", Script: "404x*", Args: ask("-m", "gpt-nope", "say hi"), Code: 1, Class: "not_found", Requests: 1},
	{Name: "BadRequest", Script: "400x*", Code: 1, Class: "invalid_request", Requests: 1},
	{Name: "TooLong", Script: "400(code=context_length_exceeded)x*", Code: 1, Class: "too_large", Requests: 1},
	{Name: "TooLargeRequest", Script: "413x*", Code: 1, Class: "too_large", Requests: 1},
	{Name: "FilteredOnce", Script: "200(stop=content_filter), 200", Requests: 2, Stdout: answer},
	{Name: "Refused", Script: "refuse", Flags: soon, Code: 75, Class: "network"},
	{Name: "RefusedForAWhile", Script: "refuse(4s), 200", Requests: 1, Stdout: answer},
	{Name: "Reset", Script: "reset, 200", Requests: 2, Stdout: answer},
	{Name: "HangBeforeHeaders", Script: "hang, 200", Flags: []string{"--stall-timeout", "15s"}, Attempts: 2, Requests: 2, Stdout: answer},
	{Name: "HangForEver", Script: "hang x*", Flags: []string{"--stall-timeout", "12s"}, Code: 124, Class: "stalled", Attempts: 2, Requests: 2},
	{Name: "HangMid", Script: "hang-mid, 200", Flags: []string{"--stall-timeout", "15s"}, Attempts: 2, Requests: 2, Stdout: answer},
	{Name: "DropMid", Script: "drop-mid, 200", Requests: 2, Stdout: answer},
	{Name: "DropMidForEver", Script: "drop-mid x*", Code: 75, Class: "network", Requests: 6},
	{Name: "EndMid", Script: "end-mid, 200", Requests: 2, Stdout: answer},
	{Name: "GarbageOnce", Script: "garbage, 200", Requests: 2, Stdout: answer},
	{Name: "Garbage", Script: "garbage x*", Flags: soon, Code: 75, Class: "network", Requests: 4},
	{Name: "GarbageMid", Script: "garbage-mid, 200", Requests: 2, Stdout: answer},
	{Name: "QuotesAnError", Quick: true, Script: `200(text="ERROR: HTTP 429 rate limit exceeded")`, Requests: 1, Stdout: "ERROR: HTTP 429 rate limit exceeded\n"},
	{Name: "ToolQuotesAnError", Script: "tool(bash: `echo 'ERROR: exceeded retry limit, last status: 429 Too Many Requests'; echo 'ERROR: Quota exceeded' >&2; exit 1`), 200",
		Args: work("say hi"), Requests: 2, Stdout: answer},
	{Name: "NoRetriesThrottled", Script: "429(retry-after=1)x*", Flags: []string{"--max-retries", "0"}, Code: 1, Class: "rate_limit", Requests: 1},
	{Name: "NoRetriesServerError", Script: "500x*", Flags: []string{"--max-retries", "0"}, Code: 1, Class: "server_error", Requests: 1},
	{Name: "OneRetry", Script: "429(retry-after=1)x*", Flags: []string{"--max-retries", "1"}, Code: 75, Class: "rate_limit", Requests: 2,
		Older: stage.Older{older: {Attempts: 2}}},
	{Name: "ThreeRetries", Script: "500x*", Flags: append([]string{"--max-retries", "3"}, soon...), Code: 75, Class: "server_error", Requests: 4},
	{Name: "ExitCodeOfChild", Script: "401x*", Flags: []string{"--exit-code", "child"}, Code: 1, Class: "auth", Requests: 1},
	{Name: "UnknownFlag", Quick: true, Script: "200", Args: ask("--no-such-flag", "say hi"), Code: 2, Class: "invalid_request",
		Check: func(t *testing.T, r *stage.Ran) { r.Says("unexpected argument '--no-such-flag'") }},
	{Name: "NoKey", Script: "200", Env: []string{"OPENAI_API_KEY=", "CODEX_API_KEY="}, Code: 78, Class: "auth"},
	{Name: "NoPrompt", Script: "200", Args: ask(), Code: 1, Class: "invalid_request"},
	{Name: "NoGitRepository", Script: "200", Args: []string{"exec", "say hi"}, Code: 1, Class: "invalid_request"},
	{Name: "MaxOutputTokens", Script: "200(stop=max_output_tokens)x*", Code: 1, Class: "limit_reached", Requests: 1,
		Older: stage.Older{older: {Requests: 6}}}, // it tries that again
}

// resetsAt checks the time to come back, of which codex tells the minute.
func resetsAt(in time.Duration) func(*testing.T, *stage.Ran) {
	return func(t *testing.T, r *stage.Ran) {
		r.ResetsAt(in, time.Minute)
	}
}

func TestScenario(t *testing.T) { stage.Codex.Play(t, scenarios) }
