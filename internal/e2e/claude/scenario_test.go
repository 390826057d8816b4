//go:build linux

package claude_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// oldest says nothing of its retries, and asks once more without a stream before it begins to count. Left alone it would
// go on for three minutes.
func oldest(requests, attempts, retries int) stage.Older {
	return stage.Older{"2.0.77": {Requests: requests, Attempts: attempts, Stdout: "*", Env: []string{fmt.Sprint("CLAUDE_CODE_MAX_RETRIES=", retries)}}}
}

var scenarios = []stage.Scenario{
	{Name: "Success", Quick: true, Script: "200(in=100, out=7)", Requests: 1, Stdout: answer,
		Check: func(t *testing.T, r *stage.Ran) {
			r.Used(100, 7)
			if r.Result.Usage.Cost == nil || *r.Result.Usage.Cost <= 0 || r.Result.SessionID == "" || r.Result.Waited != 0 || r.Stderr != "" {
				t.Errorf("%+v\n%s", r.Result, r.Stderr)
			}
		}},
	{Name: "ThrottledTwice", Quick: true, Script: "429(retry-after=1)x2, 200", Requests: 3, Stdout: answer,
		Check: func(t *testing.T, r *stage.Ran) {
			if r.Result.Waited < 1.9 && !stage.UpTo(r.Version, "2.0.77") {
				t.Errorf("waited %v", r.Result.Waited)
			}
		}},
	{Name: "ThrottledForEver", Quick: true, Script: "429(retry-after=3)x*", Flags: []string{"--max-wait", "7s"},
		Code: 75, Class: "rate_limit", Requests: 3, Older: oldest(4, 1, 2),
		Check: func(t *testing.T, r *stage.Ran) {
			if !r.Result.Retryable || r.Result.RetryAt == "" || !strings.HasSuffix(r.Result.Error, "retry later") || r.Result.Result != "" {
				t.Errorf("%+v", r.Result)
			}
			r.Says("not before ")
		}},
	{Name: "ThrottledWithoutHint", Script: "429x*", Flags: []string{"--max-wait", "5s"}, Code: 75, Class: "rate_limit", Requests: 4, Older: oldest(4, 1, 2)},
	{Name: "ThrottledForLong", Script: "429(retry-after=120)x*", Code: 75, Class: "rate_limit", Attempts: 1, Requests: 1, Stdout: "*",
		Flags: []string{"--max-wait", "3s"}, Older: oldest(2, 1, 0)}, // it gives up at once, and does not say for how long
	{Name: "UsageLimit", Quick: true, Script: "usage-limit(resets=3h)x*", Code: 75, Class: "usage_limit", Requests: 1, Stdout: "*",
		Older: stage.Older{"2.0.77": {Requests: 2}}, Check: resetsAt(3 * time.Hour)},
	{Name: "WeeklyLimit", Script: "usage-limit(resets=3d, window=7d)x*", Code: 75, Class: "usage_limit", Requests: 1, Stdout: "*",
		Older: stage.Older{"2.0.77": {Requests: 2}}, Check: resetsAt(3 * 24 * time.Hour)},
	{Name: "UsageLimitThatFits", Script: "usage-limit(resets=6s), 200", Requests: 2, Attempts: 2, Stdout: answer, Older: stage.Older{"2.0.77": {Attempts: 1}}},
	{Name: "Overloaded", Script: "overloaded, 200", Requests: 2, Stdout: answer},
	{Name: "OverloadedForEver", Script: "overloaded x*", Code: 75, Class: "overloaded", Attempts: 2, Requests: 6, Stdout: "*", // it gives up after 3 by itself
		Older: stage.Older{"2.1.90": {Attempts: 1, Requests: 7}, "2.0.77": oldest(12, 3, 2)["2.0.77"]}},
	{Name: "OverloadedMid", After: "2.0.77", Script: "overloaded-mid, 200", Requests: 2, Stdout: answer}, // the oldest takes it for the end
	{Name: "ServerErrorForEver", Quick: true, Script: "500x*", Code: 75, Class: "server_error", Requests: 5, Older: oldest(8, 2, 2),
		Flags: []string{"--base-delay", "100ms"}},
	{Name: "ServerErrorsOfHalfAMinute", After: "2.0.77", Script: "500x*", Code: 75, Class: "server_error", Requests: 7}, // as long as our own back-off would last
	{Name: "BadKey", Quick: true, Script: "401x*", Code: 78, Class: "auth", Requests: 1, Older: oldest(3, 1, 1),
		Check: func(t *testing.T, r *stage.Ran) { r.Says("auth") }},
	{Name: "Forbidden", Script: "403x*", Code: 78, Class: "auth", Requests: 1, Stdout: "*", Older: stage.Older{"2.0.77": {Requests: 2}}},
	{Name: "NoCredit", Script: `400(message="Your credit balance is too low to access the Anthropic API.")x*`, Code: 78, Class: "billing", Requests: 1, Stdout: "*",
		Older: stage.Older{"2.1.260": {Requests: 2}, "2.1.197": {Requests: 1}, "2.0.77": {Requests: 2}}},
	{Name: "BadModel", Script: "404x*", Code: 1, Class: "not_found", Requests: 2, Stdout: "*"},
	{Name: "BadRequest", Script: "400x*", Code: 1, Class: "invalid_request", Requests: 6, Stdout: "*", // it leaves out one header after the other
		Older: stage.Older{"2.1.260": {Requests: 2}, "2.1.197": {Requests: 1}, "2.0.77": {Requests: 2}}},
	{Name: "TooLong", Script: `400(message="prompt is too long: 213000 tokens > 200000 maximum")x*`, Code: 1, Class: "too_large", Requests: 1, Stdout: "*",
		Older: stage.Older{"2.1.260": {Requests: 2}, "2.1.197": {Requests: 1}, "2.0.77": {Requests: 2}}},
	{Name: "Refused", Script: "refuse", Flags: []string{"--base-delay", "100ms"}, Code: 75, Class: "network", Requests: 0, Older: oldest(0, 2, 2)},
	{Name: "Reset", Script: "reset, 200", Requests: 2, Stdout: answer},
	{Name: "HangBeforeHeaders", Script: "hang, 200", Flags: []string{"--stall-timeout", "25s"}, Attempts: 2, Requests: 2, Stdout: answer},
	// The oldest has not kept the session, and at times asks in vain before it says so.
	{Name: "HangMid", After: "2.0.77", Script: "hang-mid, 200", Flags: []string{"--stall-timeout", "25s"}, Attempts: 2, Requests: 2, Stdout: answer},
	{Name: "DropMid", Script: "drop-mid, 200", Requests: 2, Stdout: answer},
	{Name: "GarbageOnce", Script: "garbage, 200", Requests: 2, Stdout: answer},
	{Name: "Garbage", Script: "garbage x*", Flags: []string{"--base-delay", "100ms"}, Code: 75, Class: "bad_output", Attempts: 2, Requests: 4, Stdout: "*"},
	{Name: "QuotesAnError", Quick: true, Script: `200(text="API Error: HTTP 429 rate limit exceeded")`, Requests: 1, Stdout: "API Error: HTTP 429 rate limit exceeded\n"},
	{Name: "ToolQuotesAnError", Script: "tool(bash: `echo 'API Error: 529 Overloaded'; echo 'Credit balance is too low' >&2; exit 1`), 200", Requests: 2, Stdout: answer,
		Args: []string{"-p", "say hi", "--allowedTools", "Bash"}},
	{Name: "NoRetries", Quick: true, Script: "429(retry-after=1)x*", Flags: []string{"--max-retries", "0"}, Code: 1, Class: "rate_limit", Requests: 1, Stdout: "*",
		Older: stage.Older{"2.0.77": {Requests: 2}}},
	{Name: "NoRetriesServerError", Script: "500x*", Flags: []string{"--max-retries", "0"}, Code: 1, Class: "server_error", Requests: 1, Stdout: "*",
		Older: stage.Older{"2.0.77": {Requests: 2}}},
	{Name: "OneRetry", Script: "429(retry-after=1)x*", Flags: []string{"--max-retries", "1"}, Code: 75, Class: "rate_limit", Requests: 2, Stdout: "*",
		Older: stage.Older{"2.0.77": {Requests: 3}}},
	{Name: "NoGate", Script: "429(retry-after=1), 200", Flags: []string{"--no-gate"}, Requests: 2, Stdout: answer,
		Check: func(t *testing.T, r *stage.Ran) {
			if gates, _ := filepath.Glob(filepath.Join(r.State, "gates", "*")); len(gates) > 0 {
				t.Errorf("%v", gates)
			}
		}},
	{Name: "ExitCodeOfChild", Script: "401x*", Flags: []string{"--exit-code", "child", "--max-retries", "0"}, Code: 1, Class: "auth", Requests: 1, Stdout: "*",
		Older: stage.Older{"2.0.77": {Requests: 2}}},
	{Name: "UnknownFlag", Quick: true, Script: "200", Args: []string{"-p", "say hi", "--no-such-flag"}, Code: 1, Class: "invalid_request", Requests: 0,
		Check: func(t *testing.T, r *stage.Ran) { r.Says("error: unknown option '--no-such-flag'") }},
	{Name: "MaxTurns", Script: "tool(bash: true)x*", Args: []string{"-p", "say hi", "--max-turns", "2", "--allowedTools", "Bash"}, Code: 1, Class: "limit_reached", Requests: 2,
		Stdout: "Error: Reached max turns (2)", Older: stage.Older{"2.0.77": {Requests: 1}, "1.0.128": {Requests: 2}}},
	{Name: "NotLoggedIn", After: "2.1.90", Script: "200", Env: []string{"ANTHROPIC_API_KEY="}, Code: 78, Class: "auth", Requests: 0, Stdout: "*"},
}

// resetsAt checks the time to come back, of which the oldest tells the minute.
func resetsAt(in time.Duration) func(*testing.T, *stage.Ran) {
	return func(t *testing.T, r *stage.Ran) {
		precision := time.Second
		if stage.UpTo(r.Version, "2.0.77") {
			precision = time.Minute
		}
		r.ResetsAt(in, precision)
	}
}

func TestScenario(t *testing.T) { stage.Claude.Play(t, scenarios) }
