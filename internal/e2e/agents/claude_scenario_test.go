//go:build linux

package agents_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// claudeOldest says nothing of its retries, and asks once more without a stream before it begins to count. Left alone it
// would go on for three minutes.
func claudeOldest(requests, attempts, retries int) stage.Older {
	return stage.Older{"2.0.77": {Requests: requests, Attempts: attempts, Stdout: "*", Env: []string{fmt.Sprint("CLAUDE_CODE_MAX_RETRIES=", retries)}}}
}

// claudeDiffers is what differs for claude, which prints what it fails with.
var claudeDiffers = map[string]stage.Scenario{
	"Success": {Check: func(t *testing.T, r *stage.Ran) {
		if r.Result.Usage.Cost == nil || *r.Result.Usage.Cost <= 0 || r.Stderr != "" {
			t.Errorf("%+v\n%s", r.Result, r.Stderr)
		}
	}},
	"ThrottledTwice": {Check: func(t *testing.T, r *stage.Ran) {
		if r.Result.Waited < 1.9 && !stage.UpTo(r.Version, "2.0.77") {
			t.Errorf("waited %v", r.Result.Waited)
		}
	}},
	"ThrottledForEver": {Older: claudeOldest(4, 1, 2), Check: func(t *testing.T, r *stage.Ran) {
		if r.Result.RetryAt == "" {
			t.Errorf("%+v", r.Result)
		}
		r.Says(" hit a rate limit")
	}},
	"ThrottledWithoutHint": {Older: claudeOldest(4, 1, 2)},
	"ThrottledForLong":     {Stdout: "*", Older: claudeOldest(2, 1, 0)}, // it gives up at once, and does not say for how long
	"UsageLimit":           {Stdout: "*", Older: stage.Older{"2.0.77": {Requests: 2}}, Check: claudeResetsAt(3 * time.Hour)},
	"WeeklyLimit":          {Stdout: "*", Older: stage.Older{"2.0.77": {Requests: 2}}, Check: claudeResetsAt(3 * 24 * time.Hour)},
	"UsageLimitThatFits":   {Older: stage.Older{"2.0.77": {Attempts: 1}}},
	"Overloaded":           {Script: "overloaded, 200", Requests: 2},
	"OverloadedForEver": {Stdout: "*", // it gives up after 3 by itself
		Older: stage.Older{"2.1.90": {Attempts: 1, Requests: 7}, "2.0.77": claudeOldest(12, 3, 2)["2.0.77"]}},
	"OverloadedMid":      {After: "2.0.77"}, // which takes it for the end
	"ServerErrorForEver": {Older: claudeOldest(8, 2, 2)},
	"BadKey":             {Older: claudeOldest(3, 1, 1), Check: func(t *testing.T, r *stage.Ran) { r.Says("its key was rejected") }},
	"Forbidden":          {Stdout: "*", Older: stage.Older{"2.0.77": {Requests: 2}}},
	"NoCredit": {Script: `400(message="Your credit balance is too low to access the Anthropic API.")x*`, Stdout: "*",
		Older: stage.Older{"2.1.260": {Requests: 2}, "2.1.197": {Requests: 1}, "2.0.77": {Requests: 2}}},
	"BadModel": {Requests: 2, Stdout: "*"},
	"BadRequest": {Requests: 6, Stdout: "*", // it leaves out one header after the other
		Older: stage.Older{"2.1.260": {Requests: 2}, "2.1.197": {Requests: 1}, "2.0.77": {Requests: 2}}},
	"TooLong": {Script: `400(message="prompt is too long: 213000 tokens > 200000 maximum")x*`, Stdout: "*",
		Older: stage.Older{"2.1.260": {Requests: 2}, "2.1.197": {Requests: 1}, "2.0.77": {Requests: 2}}},
	"Refused": {Older: claudeOldest(0, 2, 2)},
	// The oldest has not kept the session, and at times asks in vain before it says so.
	"HangMid": {After: "2.0.77"},
	"Garbage": {Attempts: 2, Stdout: "*"},
	"ToolQuotesAnError": {Script: "tool(bash: `echo 'API Error: 529 Overloaded'; echo 'Credit balance is too low' >&2; exit 1`), 200",
		Args: []string{"-p", "say hi", "--allowedTools", "Bash"}},
	"NoRetries":            {Stdout: "*", Older: stage.Older{"2.0.77": {Requests: 2}}},
	"NoRetriesServerError": {Stdout: "*", Older: stage.Older{"2.0.77": {Requests: 2}}},
	"OneRetry":             {Stdout: "*", Older: stage.Older{"2.0.77": {Requests: 3}}},
	"ExitCodeOfChild":      {Stdout: "*", Older: stage.Older{"2.0.77": {Requests: 2}}},
	"UnknownFlag": {Args: []string{"-p", "say hi", "--no-such-flag"},
		Check: func(t *testing.T, r *stage.Ran) { r.Says("error: unknown option '--no-such-flag'") }},
	"NoKey": {After: "2.1.90", Env: []string{"ANTHROPIC_API_KEY="}, Stdout: "*"},
}

var claudeScenarios = []stage.Scenario{
	// One told to wait does so, and tells of it again after 30 s. Longer waits show no more that claude does, and the engine plays them in no time.
	{Name: "ToldToWait", Quick: true, After: "2.0.77", Script: "usage-limit(resets=34s), 200", Env: toldToWait, Requests: 2, Stdout: answer, Check: claudeWaited(30)},
	{Name: "ToldToWaitForLonger", After: "2.0.77", Script: "usage-limit(resets=90s), 200", Env: toldToWait, Requests: 2, Stdout: answer, Check: claudeWaited(80)},
	{Name: "ToldToWaitForLong", After: "2.0.77", Script: "usage-limit(resets=420s), 200", Env: toldToWait, Requests: 2, Stdout: answer, Check: claudeWaited(400)},
	{Name: "ToldToWaitBelayNot", After: "2.0.77", Script: "usage-limit(resets=3h)x*", Env: toldToWait, Flags: []string{"--max-wait", "5s"}, Code: 75, Class: "usage_limit", Requests: 1,
		Check: claudeResetsAt(3 * time.Hour)},
	{Name: "ToldToWaitNoWait", After: "2.0.77", Script: "usage-limit(resets=3h)x*", Env: toldToWait, Flags: []string{"--no-wait"}, Code: 75, Class: "usage_limit", Requests: 1},
	{Name: "ServerErrorsOfHalfAMinute", After: "2.0.77", Script: "500x*", Code: 75, Class: "server_error", Requests: 7}, // as long as our own back-off would last
	{Name: "MaxTurns", Script: "tool(bash: true)x*", Args: []string{"-p", "say hi", "--max-turns", "2", "--allowedTools", "Bash"}, Code: 1, Class: "limit_reached", Requests: 2,
		Stdout: "Error: Reached max turns (2)", Older: stage.Older{"2.0.77": {Requests: 1}, "1.0.128": {Requests: 2}}},
}

// toldToWait has claude wait for limits for as long as they last.
var toldToWait = []string{"CLAUDE_CODE_RETRY_WATCHDOG=1"}

// claudeWaited checks that claude has waited inside for so many seconds at least, that people are told, and that the log has it once, from which stats are made.
func claudeWaited(least float64) func(*testing.T, *stage.Ran) {
	return func(t *testing.T, r *stage.Ran) {
		r.Says("claude hit its usage limit; retrying in ")
		if r.Result.Waited < least || r.Result.Waited > least+30 {
			t.Errorf("waited %v", r.Result.Waited)
		}
		log := r.Log()
		if len(log) != 1 || log[0].InnerRetries != 1 || log[0].InnerWait < least || log[0].WaitTime != log[0].InnerWait {
			t.Errorf("on record: %+v", log)
		}
	}
}

// claudeResetsAt checks the time to come back, of which the oldest tells the minute.
func claudeResetsAt(in time.Duration) func(*testing.T, *stage.Ran) {
	return func(t *testing.T, r *stage.Ran) {
		precision := time.Second
		if stage.UpTo(r.Version, "2.0.77") {
			precision = time.Minute
		}
		r.ResetsAt(in, precision)
	}
}
