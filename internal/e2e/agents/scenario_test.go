//go:build linux

package agents_test

import (
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// scenarios are those that every CLI plays; what differs for one is in its file. A CLI without a file plays the first.
var scenarios = []stage.Scenario{
	{Name: "Success", Quick: true, Script: "200(in=100, out=7)", Requests: 1, Stdout: answer,
		Check: func(t *testing.T, r *stage.Ran) {
			r.Used(100, 7)
			if r.Result.SessionID == "" || r.Result.Waited != 0 {
				t.Errorf("session %q, waited %v", r.Result.SessionID, r.Result.Waited)
			}
		}},
	{Name: "ThrottledTwice", Quick: true, Script: "429(retry-after=1)x2, 200", Requests: 3, Stdout: answer},
	{Name: "ThrottledForEver", Quick: true, Script: "429(retry-after=3)x*", Flags: []string{"--max-wait", "8s"}, Code: 75, Class: "rate_limit", Requests: 3,
		Check: func(t *testing.T, r *stage.Ran) {
			if !r.Result.Retryable {
				t.Error("the result says that a retry does not help")
			}
		}},
	{Name: "ThrottledWithoutHint", Script: "429x*", Flags: []string{"--max-wait", "5s"}, Code: 75, Class: "rate_limit", Requests: 4},
	{Name: "ThrottledForLong", Script: "429(retry-after=120)x*", Flags: []string{"--max-wait", "3s"}, Code: 75, Class: "rate_limit", Requests: 1},
	{Name: "UsageLimit", Quick: true, Script: "usage-limit(resets=3h)x*", Code: 75, Class: "usage_limit", Requests: 1},
	{Name: "WeeklyLimit", Script: "usage-limit(resets=3d, window=7d)x*", Code: 75, Class: "usage_limit", Requests: 1},
	{Name: "UsageLimitThatFits", Script: "usage-limit(resets=10s), 200", Requests: 2, Attempts: 2, Stdout: answer},
	{Name: "Overloaded", Script: "overloaded x2, 200", Requests: 3, Stdout: answer},
	{Name: "OverloadedForEver", Script: "overloaded x*", Code: 75, Class: "overloaded", Attempts: 2, Requests: 6},
	{Name: "OverloadedMid", Script: "overloaded-mid, 200", Requests: 2, Stdout: answer},
	{Name: "ServerErrorForEver", Quick: true, Script: "500x*", Flags: soon, Code: 75, Class: "server_error", Requests: 5},
	{Name: "BadKey", Quick: true, Script: "401x*", Code: 78, Class: "auth", Requests: 1},
	{Name: "Forbidden", Script: "403x*", Code: 78, Class: "auth", Requests: 1},
	{Name: "NoCredit", Code: 78, Class: "billing", Requests: 1},
	{Name: "BadModel", Script: "404x*", Code: 1, Class: "not_found", Requests: 1},
	{Name: "BadRequest", Script: "400x*", Code: 1, Class: "invalid_request", Requests: 1},
	{Name: "TooLong", Code: 1, Class: "too_large", Requests: 1},
	{Name: "Refused", Script: "refuse", Flags: soon, Code: 75, Class: "network"},
	{Name: "Reset", Script: "reset, 200", Requests: 2, Stdout: answer},
	{Name: "HangBeforeHeaders", Script: "hang, 200", Flags: []string{"--stall-timeout", "30s"}, Attempts: 2, Requests: 2, Stdout: answer},
	{Name: "HangMid", Script: "hang-mid, 200", Flags: []string{"--stall-timeout", "30s"}, Attempts: 2, Requests: 2, Stdout: answer},
	{Name: "DropMid", Script: "drop-mid, 200", Requests: 2, Stdout: answer},
	{Name: "GarbageOnce", Script: "garbage, 200", Requests: 2, Stdout: answer},
	{Name: "Garbage", Script: "garbage x*", Flags: soon, Code: 75, Class: "bad_output", Requests: 4},
	{Name: "QuotesAnError", Quick: true, Script: `200(text="API Error: HTTP 429 rate limit exceeded")`, Requests: 1, Stdout: "API Error: HTTP 429 rate limit exceeded\n"},
	{Name: "ToolQuotesAnError", Requests: 2, Stdout: answer},
	{Name: "NoRetries", Script: "429(retry-after=1)x*", Flags: []string{"--max-retries", "0"}, Code: 1, Class: "rate_limit", Requests: 1},
	{Name: "NoRetriesServerError", Script: "500x*", Flags: []string{"--max-retries", "0"}, Code: 1, Class: "server_error", Requests: 1},
	{Name: "OneRetry", Script: "429(retry-after=1)x*", Flags: []string{"--max-retries", "1"}, Code: 75, Class: "rate_limit", Requests: 2},
	{Name: "NoGate", Script: "429(retry-after=1), 200", Flags: []string{"--no-gate"}, Requests: 2, Stdout: answer,
		Check: func(t *testing.T, r *stage.Ran) {
			if gates, _ := filepath.Glob(filepath.Join(r.State, "gates", "*")); len(gates) > 0 {
				t.Errorf("gates: %q", gates)
			}
		}},
	{Name: "ExitCodeOfChild", Script: "401x*", Flags: []string{"--exit-code", "child", "--max-retries", "0"}, Code: 1, Class: "auth", Requests: 1},
	{Name: "UnknownFlag", Quick: true, Script: "200", Code: 1, Class: "invalid_request"},
	{Name: "NoKey", Script: "200", Code: 78, Class: "auth"},
}

func TestScenario(t *testing.T) {
	t.Parallel()
	for _, a := range agents {
		t.Run(a.Name, func(t *testing.T) {
			if a.ask == nil {
				a.Play(t, scenarios[:1])
				return
			}
			left := len(a.differs)
			var own []stage.Scenario
			for _, sc := range scenarios {
				d, ok := a.differs[sc.Name]
				if ok {
					left--
				}
				sc.Quick = sc.Quick && a.isDaily(t)
				own = append(own, sc.With(d))
			}
			if left != 0 {
				t.Errorf("%d of the differences are for no scenario that there is", left)
			}
			a.Play(t, append(own, a.scenarios...))
		})
	}
}
