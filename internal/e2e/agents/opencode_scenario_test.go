//go:build linux

package agents_test

import (
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// opencodeDiffers is what differs for opencode. In its log it tells that it tries again, and not for how long it waits.
var opencodeDiffers = map[string]stage.Scenario{
	"Success": {Check: func(t *testing.T, r *stage.Ran) {
		if !stage.Opencode.IsSession(r.Result.SessionID) || r.Result.Usage.Cost == nil || r.Result.Usage.Estimated {
			t.Errorf("%+v", r.Result)
		}
	}},
	"ThrottledForEver":     {Requests: -1},
	"ThrottledWithoutHint": {Requests: -1},
	"OverloadedForEver":    {Requests: 4, Attempts: 1},
	"ServerErrorForEver":   {Requests: 4},
	"ThrottledForLong":     {Flags: []string{"--max-wait", "5s"}},
	"UsageLimit":           {Check: func(t *testing.T, r *stage.Ran) { r.Says(" hitting its usage limit") }},
	"UsageLimitThatFits":   {Script: "usage-limit(resets=10s)x*", Code: 75, Class: "usage_limit", Requests: 1, Attempts: 1, Stdout: "*"}, // it does not say how long that is
	"NoCredit":             {Script: "429(code=insufficient_quota, type=insufficient_quota)x*"},
	"TooLong":              {Script: "400(code=context_length_exceeded)x*", Requests: 2}, // it tries to make it shorter
	"ToolQuotesAnError":    {Script: "tool(bash: `echo 'Error: 429 Too Many Requests'; echo 'Error: Quota exceeded' >&2; exit 1`), 200"},
	"UnknownFlag":          {Args: opencodeAsk("--no-such-flag", "say hi")},
	"NoKey":                {Args: opencodeAsk("-m", "groq/llama-3.3-70b-versatile", "say hi"), Code: 1, Class: "not_found"}, // without one it does not know the provider's models
}

var opencodeScenarios = []stage.Scenario{
	{Name: "UnknownModel", Script: "200", Args: opencodeAsk("-m", "rehearsal/nope", "say hi"), Code: 1, Class: "not_found"},
	{Name: "NoPrompt", Script: "200", Args: opencodeAsk(), Code: 1, Class: "invalid_request"},
	{Name: "Filtered", Script: "200(stop=content_filter)x*", Code: 1, Class: "refused", Requests: 1, Stdout: "*"},
	{Name: "MaxOutputTokens", Script: "200(stop=length)x*", Code: 1, Class: "limit_reached", Requests: 1, Stdout: "*"},
	{Name: "NoPermission", Script: `tool(read: "{\"filePath\":\"/nonexistent/x\"}"), 200`, Code: 1, Class: "blocked", Requests: 1},
	{Name: "MalformedOnce", Script: "200(content-type=text/event-stream, body=`data: {nope\n\n`), 200", Flags: soon, Requests: 2, Attempts: 2, Stdout: answer},
	{Name: "EndMid", Script: "end-mid, 200", Requests: 2, Stdout: "This is\n" + answer}, // as without belay
}
