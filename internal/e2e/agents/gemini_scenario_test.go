//go:build linux

package agents_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// geminiDiffers is what differs for gemini. It waits at least five seconds before it tries again, and tells of it on stderr.
var geminiDiffers = map[string]stage.Scenario{
	"Success": {Check: func(t *testing.T, r *stage.Ran) {
		if !stage.IsUUID(r.Result.SessionID) || r.Result.Usage.Cost == nil || !r.Result.Usage.Estimated {
			t.Errorf("%+v", r.Result)
		}
	}},
	"ThrottledTwice": {Script: "429(retry-after=1), 200", Requests: 2, Check: func(t *testing.T, r *stage.Ran) {
		if r.Result.Waited < 4.9 {
			t.Errorf("waited %v", r.Result.Waited)
		}
	}},
	"ThrottledForEver":     {Flags: []string{"--max-wait", "20s"}, Requests: 3},
	"ThrottledWithoutHint": {Flags: []string{"--max-wait", "20s"}, Requests: 3},
	"UsageLimit":           {Check: geminiResetsAt(3 * time.Hour)},
	"UsageLimitThatFits":   {Attempts: 1, Older: stage.Older{geminiOld: {Attempts: 2}}},
	"WeeklyLimit":          {Check: geminiResetsAt(3 * 24 * time.Hour)},
	"Overloaded":           {Script: "overloaded, 200", Requests: 2},
	"OverloadedForEver":    {Attempts: 1, Requests: 4},
	"OverloadedMid":        {Stdout: "*"}, // what was said before is said again
	"ServerErrorForEver":   {Requests: 4},
	"NoCredit":             {Script: `429(message="Your prepayment credits are depleted.")x*`},
	"BadModel":             {},
	"TooLong":              {Script: `400(message="The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).")x*`},
	"DropMid":              {Script: "end-mid, 200", Stdout: "*"}, // what was said before is said again; TestGemini_DropMid
	"GarbageOnce":          {},
	"Garbage":              {Attempts: 2, Requests: 8},
	"ToolQuotesAnError": {Script: "tool(bash: `echo 'Attempt 1 failed with status 429. Retrying with backoff... '; echo 'API key not valid' >&2; exit 1`), 200",
		Args: geminiWork("say hi")},
	"UnknownFlag": {Args: []string{"-p", "say hi", "--no-such-flag"},
		Check: func(t *testing.T, r *stage.Ran) { r.Says("Unknown argument") }},
	"NoKey": {Env: []string{"GEMINI_API_KEY="}},
}

var geminiScenarios = []stage.Scenario{
	{Name: "TooLargeRequest", Script: "413x*", Code: 1, Class: "too_large", Requests: 1},
	{Name: "BadAPIKey", Script: `400(message="API key not valid. Please pass a valid API key.", code=API_KEY_INVALID)x*`, Code: 78, Class: "auth", Requests: 1},
	{Name: "EndMidForEver", Script: "end-mid x*", Code: 75, Class: "network", Requests: 4, Stdout: "*", After: geminiOld},
	{Name: "Safety", Script: "200(body=`" + geminiChunk(`{"text":""}`, "SAFETY") + "`, content-type=text/event-stream)x*", Code: 1, Class: "refused", Requests: 4, After: geminiOld},
	{Name: "MaxTokens", Script: "200(body=`" + geminiChunk(`{"text":""}`, "MAX_TOKENS") + "`, content-type=text/event-stream)x*", Code: 1, Class: "limit_reached", Requests: 4, After: geminiOld},
	{Name: "Untrusted", Script: "200", Env: []string{"GEMINI_CLI_TRUST_WORKSPACE="}, Code: 55, Class: "invalid_request"},
	{Name: "WrongUse", Script: "200", Args: []string{"-p", "say hi", "--approval-mode", "bogus"}, Code: 1, Class: "invalid_request"},
	{Name: "NoPrompt", Script: "200", Args: []string{"-p", ""}, Code: 42, Class: "invalid_request"},
}

func geminiResetsAt(in time.Duration) func(*testing.T, *stage.Ran) {
	return func(t *testing.T, r *stage.Ran) { r.ResetsAt(in, time.Second) }
}
