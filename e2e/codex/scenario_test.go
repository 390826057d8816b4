//go:build linux

package codex_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/companion/rehearse"
	"github.com/belay-run/belay/internal/clitest"
)

// older is the codex that everything is tried with too. It gives up at any 429, and does not tell a quota that is used up
// from a throttle.
const older = "0.150.1"

// scenario is one run of `belay run flags -- codex args` and what must come of it.
type scenario struct {
	name   string
	quick  bool // also in the short run
	script string
	flags  []string
	args   []string // instead of exec "say hi"
	env    []string

	code     int
	class    string // empty is a success
	attempts int    // 0 is 1
	requests int
	late     bool   // one request more: codex asks again 0.2 s after it has said why, which on a busy machine is soon
	stdout   string // the whole of it; "*" is anything
	check    func(t *testing.T, r *ran)

	older *scenario // what differs for the older version: code, class, attempts, requests, late where they are set
}

const answer = rehearse.DefaultText + "\n"

// ask is a command line that asks, work one that may use tools without a sandbox, which not every machine has.
func ask(more ...string) []string { return append([]string{"exec", "--skip-git-repo-check"}, more...) }
func work(more ...string) []string {
	return ask(append([]string{"--dangerously-bypass-approvals-and-sandbox"}, more...)...)
}

// soon makes what belay waits short.
var soon = []string{"--base-delay", "100ms"}

var scenarios = []scenario{
	{name: "Success", quick: true, script: "200(in=100, out=7)", requests: 1, stdout: answer,
		check: func(t *testing.T, r *ran) {
			r.used(100, 7)
			if !isUUID(r.result.SessionID) || r.result.Waited != 0 || r.result.Usage.Cost != nil {
				t.Errorf("%+v", r.result)
			}
		}},
	{name: "ThrottledTwice", quick: true, script: "429(retry-after=1)x2, 200", requests: 3, stdout: answer,
		older: &scenario{attempts: 3}},
	{name: "ThrottledTwiceWithoutHint", script: "429x2, 200", flags: soon, requests: 3, attempts: 3, stdout: answer},
	{name: "ThrottledForEver", quick: true, script: "429(retry-after=3)x*", flags: []string{"--max-wait", "8s"}, code: 75, class: "rate_limit", requests: 3,
		older: &scenario{attempts: 2, requests: 2},
		check: func(t *testing.T, r *ran) {
			if !r.result.Retryable || r.result.Waited < 5 {
				t.Errorf("%+v", r.result)
			}
		}},
	{name: "ThrottledForEverWithoutHint", script: "429x*", flags: []string{"--max-wait", "6s"}, code: 75, class: "rate_limit", requests: 2, attempts: 2},
	{name: "ThrottledForLong", script: "429(retry-after=120)x*", flags: []string{"--max-wait", "3s"}, code: 75, class: "rate_limit", requests: 1},
	{name: "ThrottledInside", script: "error-mid(code=rate_limit_exceeded)x2, 200", requests: 3, stdout: answer,
		check: func(t *testing.T, r *ran) {
			if r.result.Waited < 2.9 { // it says: try again in 1.5s
				t.Errorf("waited %v", r.result.Waited)
			}
		}},
	{name: "UsageLimit", quick: true, script: "usage-limit(resets=3h)x*", code: 75, class: "usage_limit", requests: 1, check: resetsAt(3 * time.Hour)},
	{name: "WeeklyLimit", script: "usage-limit(resets=3d)x*", code: 75, class: "usage_limit", requests: 1, check: resetsAt(3 * 24 * time.Hour)},
	{name: "UsageLimitThatFits", script: "usage-limit(resets=10s), 200", requests: 2, attempts: 2, stdout: answer},
	{name: "Overloaded", script: "overloaded x2, 200", requests: 3, stdout: answer},
	{name: "OverloadedForEver", script: "overloaded x*", code: 75, class: "overloaded", requests: 10, attempts: 2},
	{name: "OverloadedMid", script: "overloaded-mid, 200", flags: soon, requests: 2, attempts: 2, stdout: answer},
	{name: "ServerErrorForEver", quick: true, script: "500x*", flags: soon, code: 75, class: "server_error", requests: 20},
	{name: "GatewayError", script: `503(body="<html>busy</html>")x2, 200`, requests: 3, stdout: answer},
	{name: "BadKey", quick: true, script: "401x*", code: 78, class: "auth", requests: 1, late: true},
	{name: "Forbidden", script: "403x*", code: 78, class: "auth", requests: 1, late: true},
	{name: "NoCredit", script: "429(code=insufficient_quota, type=insufficient_quota)x*", flags: []string{"--max-wait", "3s"}, code: 78, class: "billing", requests: 1,
		older: &scenario{code: 75, class: "rate_limit"}},
	{name: "BadModel", script: "404x*", args: ask("-m", "gpt-nope", "say hi"), code: 1, class: "not_found", requests: 1,
		older: &scenario{late: true}}, // it would try that again
	{name: "BadRequest", script: "400x*", code: 1, class: "invalid_request", requests: 1},
	{name: "TooLong", script: "400(code=context_length_exceeded)x*", code: 1, class: "too_large", requests: 1},
	{name: "TooLargeRequest", script: "413x*", code: 1, class: "too_large", requests: 1, late: true},
	{name: "FilteredOnce", script: "200(stop=content_filter), 200", requests: 2, stdout: answer},
	{name: "Refused", script: "refuse", flags: soon, code: 75, class: "network"},
	{name: "RefusedForAWhile", script: "refuse(4s), 200", requests: 1, stdout: answer},
	{name: "Reset", script: "reset, 200", requests: 2, stdout: answer},
	{name: "HangBeforeHeaders", script: "hang, 200", flags: []string{"--stall-timeout", "15s"}, attempts: 2, requests: 2, stdout: answer},
	{name: "HangForEver", script: "hang x*", flags: []string{"--stall-timeout", "12s"}, code: 124, class: "stalled", attempts: 2, requests: 2},
	{name: "HangMid", script: "hang-mid, 200", flags: []string{"--stall-timeout", "15s"}, attempts: 2, requests: 2, stdout: answer},
	{name: "DropMid", script: "drop-mid, 200", requests: 2, stdout: answer},
	{name: "DropMidForEver", script: "drop-mid x*", code: 75, class: "network", requests: 6},
	{name: "EndMid", script: "end-mid, 200", requests: 2, stdout: answer},
	{name: "GarbageOnce", script: "garbage, 200", requests: 2, stdout: answer},
	{name: "Garbage", script: "garbage x*", flags: soon, code: 75, class: "network", requests: 4},
	{name: "GarbageMid", script: "garbage-mid, 200", requests: 2, stdout: answer},
	{name: "QuotesAnError", quick: true, script: `200(text="ERROR: HTTP 429 rate limit exceeded")`, requests: 1, stdout: "ERROR: HTTP 429 rate limit exceeded\n"},
	{name: "ToolQuotesAnError", script: "tool(bash: `echo 'ERROR: exceeded retry limit, last status: 429 Too Many Requests'; echo 'ERROR: Quota exceeded' >&2; exit 1`), 200",
		args: work("say hi"), requests: 2, stdout: answer},
	{name: "NoRetriesThrottled", script: "429(retry-after=1)x*", flags: []string{"--max-retries", "0"}, code: 1, class: "rate_limit", requests: 1},
	{name: "NoRetriesServerError", script: "500x*", flags: []string{"--max-retries", "0"}, code: 1, class: "server_error", requests: 1},
	{name: "OneRetry", script: "429(retry-after=1)x*", flags: []string{"--max-retries", "1"}, code: 75, class: "rate_limit", requests: 2,
		older: &scenario{attempts: 2}},
	{name: "ThreeRetries", script: "500x*", flags: append([]string{"--max-retries", "3"}, soon...), code: 75, class: "server_error", requests: 4},
	{name: "ExitCodeOfChild", script: "401x*", flags: []string{"--exit-code", "child"}, code: 1, class: "auth", requests: 1, late: true},
	{name: "UnknownFlag", quick: true, script: "200", args: ask("--no-such-flag", "say hi"), code: 2, class: "invalid_request",
		check: func(t *testing.T, r *ran) { r.says("unexpected argument '--no-such-flag'") }},
	{name: "NoKey", script: "200", env: []string{"OPENAI_API_KEY=", "CODEX_API_KEY="}, code: 78, class: "auth"},
	{name: "NoPrompt", script: "200", args: ask(), code: 1, class: "invalid_request"},
	{name: "NoGitRepository", script: "200", args: []string{"exec", "say hi"}, code: 1, class: "invalid_request"},
	{name: "MaxOutputTokens", script: "200(stop=max_output_tokens)x*", code: 1, class: "limit_reached", requests: 1,
		older: &scenario{requests: 6}}, // it tries that again
}

// resetsAt checks that the time to come back is that of the limit's reset, which codex tells by the minute.
func resetsAt(in time.Duration) func(*testing.T, *ran) {
	return func(t *testing.T, r *ran) {
		at, err := time.Parse(time.RFC3339, r.result.RetryAt)
		want := r.api.Main()[0].At.Add(in).Truncate(time.Minute)
		if err != nil || at.Before(want) || at.After(want.Add(2*time.Minute)) {
			t.Errorf("to be tried again at %q, the limit resets at %v", r.result.RetryAt, want.UTC())
		}
		r.says("usage_limit", "not before ")
		if r.result.Retryable {
			t.Error("a back-off does not help")
		}
	}
}

// versions are those that a scenario is tried with.
func versions() []string {
	if full {
		return []string{clitest.NewestCodex, older}
	}
	return []string{clitest.NewestCodex}
}

func TestScenario(t *testing.T) {
	t.Parallel()
	for _, sc := range scenarios {
		if !sc.quick && !full {
			continue
		}
		for _, version := range versions() {
			t.Run(sc.name+"/"+version, func(t *testing.T) {
				t.Parallel()
				sc.play(t, version)
			})
		}
	}
}

// play runs the scenario once.
func (sc scenario) play(t *testing.T, version string) {
	sc = sc.with(version)
	s := newStage(t, version, sc.script)
	s.env = sc.env
	args := sc.args
	if args == nil {
		args = ask("say hi")
	}
	r := s.belay(sc.flags, args)
	r.exits(sc.code)
	r.is(sc.class, max(sc.attempts, 1))
	if !sc.late || s.requests() != sc.requests+1 {
		s.asked(sc.requests)
	}
	if sc.stdout != "*" {
		r.prints(sc.stdout)
	}
	if sc.code == 75 && (!strings.HasSuffix(r.result.Error, "retry later") || r.result.Result != "") {
		t.Errorf("%+v", r.result)
	}
	if sc.check != nil {
		sc.check(t, r)
	}
	s.nobodyLeft()
}

// with is the scenario with what differs for a version.
func (sc scenario) with(version string) scenario {
	if sc.older == nil || version != older {
		return sc
	}
	sc.late = sc.late || sc.older.late
	if sc.older.code != 0 {
		sc.code = sc.older.code
	}
	if sc.older.requests != 0 {
		sc.requests = sc.older.requests
	}
	if sc.older.attempts != 0 {
		sc.attempts = sc.older.attempts
	}
	if sc.older.class != "" {
		sc.class = sc.older.class
	}
	return sc
}

// each runs a test for every version; one that is not quick only where everything is tried. It is in parallel to others.
func each(t *testing.T, quick bool, test func(t *testing.T, version string), not ...string) {
	t.Helper()
	if !quick && !full {
		t.Skip("only with BELAY_TEST_FULL=1")
	}
	t.Parallel()
	for _, version := range versions() {
		if slices.Contains(not, version) {
			continue
		}
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			test(t, version)
		})
	}
}
