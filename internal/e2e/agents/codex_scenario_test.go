//go:build linux

package agents_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// codexDiffers is what differs for codex.
var codexDiffers = map[string]stage.Scenario{
	"Success": {Check: func(t *testing.T, r *stage.Ran) {
		if !stage.IsUUID(r.Result.SessionID) || r.Result.Usage.Cost == nil || !r.Result.Usage.Estimated {
			t.Errorf("%+v", r.Result)
		}
	}},
	"ThrottledTwice": {Older: stage.Older{codexOld: {Attempts: 3}}},
	"ThrottledForEver": {Older: stage.Older{codexOld: {Attempts: 2, Requests: 2}}, Check: func(t *testing.T, r *stage.Ran) {
		if r.Result.Waited < 5 {
			t.Errorf("waited %v", r.Result.Waited)
		}
	}},
	"ThrottledWithoutHint": {Flags: []string{"--max-wait", "6s"}, Requests: 2, Attempts: 2},
	"UsageLimit":           {Check: codexResetsAt(3 * time.Hour)},
	"WeeklyLimit":          {Script: "usage-limit(resets=3d)x*", Check: codexResetsAt(3 * 24 * time.Hour)},
	"OverloadedForEver":    {Requests: 10},
	"OverloadedMid":        {Flags: soon, Attempts: 2},
	"ServerErrorForEver":   {Requests: 20},
	"NoCredit": {Script: "429(code=insufficient_quota, type=insufficient_quota)x*", Flags: []string{"--max-wait", "3s"},
		Older: stage.Older{"0.150.1": {Code: 75, Class: "rate_limit"}}},
	"BadModel":      {Args: codexAsk("-m", "gpt-nope", "say hi")},
	"TooLong":       {Script: "400(code=context_length_exceeded)x*"},
	"Garbage":       {Class: "network"},
	"QuotesAnError": {Script: `200(text="ERROR: HTTP 429 rate limit exceeded")`, Stdout: "ERROR: HTTP 429 rate limit exceeded\n"},
	"ToolQuotesAnError": {Script: "tool(bash: `echo 'ERROR: exceeded retry limit, last status: 429 Too Many Requests'; echo 'ERROR: Quota exceeded' >&2; exit 1`), 200",
		Args: codexWork("say hi")},
	"OneRetry": {Older: stage.Older{codexOld: {Attempts: 2}}},
	"NoGate":   {Older: stage.Older{codexOld: {Attempts: 2}}},
	"UnknownFlag": {Args: codexAsk("--no-such-flag", "say hi"), Code: 2,
		Check: func(t *testing.T, r *stage.Ran) { r.Says("unexpected argument '--no-such-flag'") }},
	"NoKey": {Env: []string{"OPENAI_API_KEY=", "CODEX_API_KEY="}},
}

var codexScenarios = []stage.Scenario{
	{Name: "ThrottledTwiceWithoutHint", Script: "429x2, 200", Flags: soon, Requests: 3, Attempts: 3, Stdout: answer},
	{Name: "ThrottledInside", Script: "error-mid(code=rate_limit_exceeded)x2, 200", Requests: 3, Stdout: answer,
		Check: func(t *testing.T, r *stage.Ran) {
			if r.Result.Waited < 2.9 { // it says: try again in 1.5s
				t.Errorf("waited %v", r.Result.Waited)
			}
		}},
	{Name: "GatewayError", Script: `503(body="<html>busy</html>")x2, 200`, Requests: 3, Stdout: answer},
	{Name: "TooLargeRequest", Script: "413x*", Code: 1, Class: "too_large", Requests: 1},
	{Name: "FilteredOnce", Script: "200(stop=content_filter), 200", Requests: 2, Stdout: answer},
	{Name: "RefusedForAWhile", Script: "refuse(4s), 200", Requests: 1, Stdout: answer},
	{Name: "DropMidForEver", Script: "drop-mid x*", Code: 75, Class: "network", Requests: 6},
	{Name: "EndMid", Script: "end-mid, 200", Requests: 2, Stdout: answer},
	{Name: "GarbageMid", Script: "garbage-mid, 200", Requests: 2, Stdout: answer},
	{Name: "ThreeRetries", Script: "500x*", Flags: append([]string{"--max-retries", "3"}, soon...), Code: 75, Class: "server_error", Requests: 4},
	{Name: "WrongUse", Script: "200", Args: codexAsk("--sandbox", "bogus", "say hi"), Code: 2, Class: "invalid_request"},
	{Name: "NoPrompt", Script: "200", Args: codexAsk(), Code: 1, Class: "invalid_request"},
	{Name: "NoGitRepository", Script: "200", Args: []string{"exec", "say hi"}, Code: 1, Class: "invalid_request"},
	{Name: "MaxOutputTokens", Script: "200(stop=max_output_tokens)x*", Code: 1, Class: "limit_reached", Requests: 1,
		Older: stage.Older{codexOld: {Requests: 6}}}, // it tries that again
}

// codexResetsAt checks the time to come back, of which codex tells the minute.
func codexResetsAt(in time.Duration) func(*testing.T, *stage.Ran) {
	return func(t *testing.T, r *stage.Ran) { r.ResetsAt(in, time.Minute) }
}
