package verdict_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/verdict"
)

func ExampleParseHint() {
	now := time.Date(2026, time.November, 15, 0, 20, 0, 0, time.UTC)
	for _, text := range []string{
		"Rate limit reached for gpt-5. Please try again in 1m12.5s.",
		"You've hit your weekly limit · resets Nov 19, 3pm (Europe/Berlin)",
		"HTTP/1.1 403 Forbidden\nX-Ratelimit-Remaining: 0\nX-Ratelimit-Reset: 1794703899\n",
		"Attempt 3 of 5 failed, please try again later.",
	} {
		if h, ok := verdict.ParseHint(text, now); ok {
			fmt.Println("wait", h.Wait(now))
		} else {
			fmt.Println("no hint")
		}
	}
	// Output:
	// wait 1m12.5s
	// wait 109h40m0s
	// wait 31m39s
	// no hint
}

func ExampleParseRetryAfter() {
	now := time.Date(2026, time.October, 21, 7, 0, 0, 0, time.UTC)
	for _, value := range []string{"17", "1.5", "Wed, 21 Oct 2026 07:28:00 GMT"} {
		h, _ := verdict.ParseRetryAfter(value, now)
		fmt.Println(h.Wait(now))
	}
	// Output:
	// 17s
	// 1.5s
	// 28m0s
}

func ExampleRules_Judge() {
	rules, err := verdict.Compile(
		verdict.Rule{Name: "login", Class: verdict.Auth, Exit: []int{4}},
		verdict.Rule{Name: "slow-down", Class: verdict.RateLimit, Match: `you've sent too many|\b429\b`},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, ok := rules.Judge(verdict.Outcome{
		ExitCode: 1,
		Stderr:   verdict.ExcerptOf("fetching…\nYou’ve sent too many requests, try again in 17s\n"),
	}, time.Now())
	fmt.Println(ok, v.Class, v.Retryable, v.Hint.After)
	fmt.Println(v.Rule+":", v.Evidence)

	_, ok = rules.Judge(verdict.Outcome{ExitCode: 1}, time.Now())
	fmt.Println(ok)
	// Output:
	// true rate_limit true 17s
	// slow-down: You’ve sent too many requests, try again in 17s
	// false
}

func ExampleCompile_mistake() {
	_, err := verdict.Compile(verdict.Rule{Name: "mine", Class: verdict.Network, Match: "connection (reset"})
	fmt.Println(err)
	// Output:
	// rule 1 (mine): match: missing closing ) in `connection (reset`
}

func ExampleCapture() {
	c := verdict.NewCapture(12, 20)
	fmt.Fprint(c, "tool v1.2.3\n")
	fmt.Fprint(c, strings.Repeat("working\n", 1_000_000))
	fmt.Fprint(c, "error: out of luck\n")
	e := c.Excerpt()
	fmt.Println(e.Size, e.Truncated())
	fmt.Println(verdict.LastLines(e.Text(), 1, 80))
	// Output:
	// 8000031 true
	// error: out of luck
}

func ExampleLastLines() {
	fmt.Println(verdict.LastLines("step 1\nstep 2\n\n\x1b[31mfatal:\x1b[0m disk full\n", 2, 80))
	// Output:
	// step 2
	// fatal: disk full
}

func ExampleVerdict_MarshalJSON() {
	data, _ := json.MarshalIndent(verdict.Verdict{
		Class:     verdict.RateLimit,
		Retryable: true,
		Hint:      verdict.Hint{After: time.Minute},
		Sent:      verdict.SentNo,
		Rule:      "secondary",
		Evidence:  "gh: You have exceeded a secondary rate limit. (HTTP 403)",
	}, "", "  ")
	fmt.Println(string(data))
	// Output:
	// {
	//   "class": "rate_limit",
	//   "retryable": true,
	//   "retry_after_s": 60,
	//   "reset_at": null,
	//   "sent": "no",
	//   "session_id": null,
	//   "usage": null,
	//   "rule": "secondary",
	//   "evidence": "gh: You have exceeded a secondary rate limit. (HTTP 403)"
	// }
}

func ExampleClass_RetryLimit() {
	for _, c := range []verdict.Class{verdict.RateLimit, verdict.UsageLimit, verdict.BadOutput, verdict.Auth} {
		fmt.Println(c, c.Retryable(), c.RetryLimit())
	}
	// Output:
	// rate_limit true 0
	// usage_limit false 0
	// bad_output true 1
	// auth false 0
}
