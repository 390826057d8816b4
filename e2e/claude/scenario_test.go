//go:build linux

package claude_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/companion/rehearse"
	"github.com/belay-run/belay/internal/clitest"
)

// scenario is one run of `belay run flags -- claude args` and what must come of it.
type scenario struct {
	name   string
	quick  bool // also in the short run
	script string
	flags  []string
	args   []string // instead of -p "say hi"
	env    []string
	stdin  string

	code     int
	class    string // empty is a success
	attempts int    // 0 is 1
	requests int
	stdout   string // the whole of it; "*" is anything
	check    func(t *testing.T, r *ran)

	not   []string            // versions that have nothing of the kind
	older map[string]scenario // what differs for older versions: class, attempts, requests, stdout, env where they are set
}

const answer = rehearse.DefaultText + "\n"

// oldest says nothing of its retries, and asks once more without a stream before it begins to count. Left alone it would
// go on for three minutes.
func oldest(requests, attempts, retries int) map[string]scenario {
	return map[string]scenario{"2.0.77": {requests: requests, attempts: attempts, stdout: "*", env: []string{fmt.Sprint("CLAUDE_CODE_MAX_RETRIES=", retries)}}}
}

var scenarios = []scenario{
	{name: "Success", quick: true, script: "200(in=100, out=7)", requests: 1, stdout: answer,
		check: func(t *testing.T, r *ran) {
			r.used(100, 7)
			if r.result.Usage.Cost == nil || *r.result.Usage.Cost <= 0 || r.result.SessionID == "" || r.result.Waited != 0 || r.stderr != "" {
				t.Errorf("%+v\n%s", r.result, r.stderr)
			}
		}},
	{name: "ThrottledTwice", quick: true, script: "429(retry-after=1)x2, 200", requests: 3, stdout: answer,
		check: func(t *testing.T, r *ran) {
			if r.result.Waited < 1.9 && r.version != "2.0.77" {
				t.Errorf("waited %v", r.result.Waited)
			}
		}},
	{name: "ThrottledForEver", quick: true, script: "429(retry-after=3)x*", flags: []string{"--max-wait", "7s"},
		code: 75, class: "rate_limit", requests: 3, older: oldest(4, 1, 2),
		check: func(t *testing.T, r *ran) {
			if !r.result.Retryable || r.result.RetryAt == "" || !strings.HasSuffix(r.result.Error, "retry later") || r.result.Result != "" {
				t.Errorf("%+v", r.result)
			}
			r.says("not before ")
		}},
	{name: "ThrottledWithoutHint", script: "429x*", flags: []string{"--max-wait", "5s"}, code: 75, class: "rate_limit", requests: 4, older: oldest(4, 1, 2)},
	{name: "ThrottledForLong", script: "429(retry-after=120)x*", code: 75, class: "rate_limit", attempts: 1, requests: 1, stdout: "*",
		flags: []string{"--max-wait", "3s"}, older: oldest(2, 1, 0)}, // it gives up at once, and does not say for how long
	{name: "UsageLimit", quick: true, script: "usage-limit(resets=3h)x*", code: 75, class: "usage_limit", requests: 1, stdout: "*",
		older: map[string]scenario{"2.0.77": {requests: 2}}, check: resetsAt(3 * time.Hour)},
	{name: "WeeklyLimit", script: "usage-limit(resets=3d, window=7d)x*", code: 75, class: "usage_limit", requests: 1, stdout: "*",
		older: map[string]scenario{"2.0.77": {requests: 2}}, check: resetsAt(3 * 24 * time.Hour)},
	{name: "UsageLimitThatFits", script: "usage-limit(resets=6s), 200", requests: 2, attempts: 2, stdout: answer, older: map[string]scenario{"2.0.77": {attempts: 1}}},
	{name: "Overloaded", script: "overloaded, 200", requests: 2, stdout: answer},
	{name: "OverloadedForEver", script: "overloaded x*", code: 75, class: "overloaded", attempts: 2, requests: 6, stdout: "*", older: oldest(12, 3, 2)}, // it gives up after 3 by itself
	{name: "OverloadedMid", not: []string{"2.0.77"}, script: "overloaded-mid, 200", requests: 2, stdout: answer},                                        // the oldest takes it for the end
	{name: "ServerErrorForEver", quick: true, script: "500x*", code: 75, class: "server_error", requests: 5, older: oldest(8, 2, 2),
		flags: []string{"--base-delay", "100ms"}},
	{name: "ServerErrorsOfHalfAMinute", not: []string{"2.0.77"}, script: "500x*", code: 75, class: "server_error", requests: 7}, // as long as our own back-off would last
	{name: "BadKey", quick: true, script: "401x*", code: 78, class: "auth", requests: 1, older: oldest(3, 1, 1),
		check: func(t *testing.T, r *ran) { r.says("auth") }},
	{name: "Forbidden", script: "403x*", code: 78, class: "auth", requests: 1, stdout: "*", older: map[string]scenario{"2.0.77": {requests: 2}}},
	{name: "NoCredit", script: `400(message="Your credit balance is too low to access the Anthropic API.")x*`, code: 78, class: "billing", requests: 1, stdout: "*",
		older: map[string]scenario{"2.0.77": {requests: 2}}},
	{name: "BadModel", script: "404x*", code: 1, class: "not_found", requests: 2, stdout: "*"},
	{name: "BadRequest", script: "400x*", code: 1, class: "invalid_request", requests: 6, stdout: "*", // it leaves out one header after the other
		older: map[string]scenario{"2.1.197": {requests: 1}, "2.0.77": {requests: 2}}},
	{name: "TooLong", script: `400(message="prompt is too long: 213000 tokens > 200000 maximum")x*`, code: 1, class: "too_large", requests: 1, stdout: "*",
		older: map[string]scenario{"2.0.77": {requests: 2}}},
	{name: "Refused", script: "refuse", flags: []string{"--base-delay", "100ms"}, code: 75, class: "network", requests: 0, older: oldest(0, 2, 2)},
	{name: "Reset", script: "reset, 200", requests: 2, stdout: answer},
	{name: "HangBeforeHeaders", script: "hang, 200", flags: []string{"--stall-timeout", "25s"}, attempts: 2, requests: 2, stdout: answer},
	// The oldest has not kept the session, and at times asks in vain before it says so.
	{name: "HangMid", not: []string{"2.0.77"}, script: "hang-mid, 200", flags: []string{"--stall-timeout", "25s"}, attempts: 2, requests: 2, stdout: answer},
	{name: "DropMid", script: "drop-mid, 200", requests: 2, stdout: answer},
	{name: "GarbageOnce", script: "garbage, 200", requests: 2, stdout: answer},
	{name: "Garbage", script: "garbage x*", flags: []string{"--base-delay", "100ms"}, code: 75, class: "bad_output", attempts: 2, requests: 4, stdout: "*"},
	{name: "QuotesAnError", quick: true, script: `200(text="API Error: HTTP 429 rate limit exceeded")`, requests: 1, stdout: "API Error: HTTP 429 rate limit exceeded\n"},
	{name: "ToolQuotesAnError", script: "tool(bash: `echo 'API Error: 529 Overloaded'; echo 'Credit balance is too low' >&2; exit 1`), 200", requests: 2, stdout: answer,
		args: []string{"-p", "say hi", "--allowedTools", "Bash"}},
	{name: "NoRetries", quick: true, script: "429(retry-after=1)x*", flags: []string{"--max-retries", "0"}, code: 1, class: "rate_limit", requests: 1, stdout: "*",
		older: map[string]scenario{"2.0.77": {requests: 2}}},
	{name: "NoRetriesServerError", script: "500x*", flags: []string{"--max-retries", "0"}, code: 1, class: "server_error", requests: 1, stdout: "*",
		older: map[string]scenario{"2.0.77": {requests: 2}}},
	{name: "OneRetry", script: "429(retry-after=1)x*", flags: []string{"--max-retries", "1"}, code: 75, class: "rate_limit", requests: 2, stdout: "*",
		older: map[string]scenario{"2.0.77": {requests: 3}}},
	{name: "NoGate", script: "429(retry-after=1), 200", flags: []string{"--no-gate"}, requests: 2, stdout: answer,
		check: func(t *testing.T, r *ran) {
			if gates, _ := filepath.Glob(filepath.Join(r.dir, "state", "gates", "*")); len(gates) > 0 {
				t.Errorf("%v", gates)
			}
		}},
	{name: "ExitCodeOfChild", script: "401x*", flags: []string{"--exit-code", "child", "--max-retries", "0"}, code: 1, class: "auth", requests: 1, stdout: "*",
		older: map[string]scenario{"2.0.77": {requests: 2}}},
	{name: "UnknownFlag", quick: true, script: "200", args: []string{"-p", "say hi", "--no-such-flag"}, code: 1, class: "invalid_request", requests: 0,
		check: func(t *testing.T, r *ran) { r.says("error: unknown option '--no-such-flag'") }},
	{name: "MaxTurns", script: "tool(bash: true)x*", args: []string{"-p", "say hi", "--max-turns", "2", "--allowedTools", "Bash"}, code: 1, class: "limit_reached", requests: 2,
		stdout: "Error: Reached max turns (2)", older: map[string]scenario{"2.0.77": {requests: 1}}},
	{name: "NotLoggedIn", not: []string{"2.0.77"}, script: "200", env: []string{"ANTHROPIC_API_KEY="}, code: 78, class: "auth", requests: 0, stdout: "*"},
}

// resetsAt checks that the time to come back is that of the limit's reset.
func resetsAt(in time.Duration) func(*testing.T, *ran) {
	return func(t *testing.T, r *ran) {
		at, err := time.Parse(time.RFC3339, r.result.RetryAt)
		asked := r.api.Main()[0].At
		want := asked.Add(in).Truncate(time.Second)
		if r.version == "2.0.77" { // it tells the minute
			want = want.Truncate(time.Minute)
		}
		if err != nil || at.Before(want) || at.After(want.Add(2*time.Minute)) || r.version != "2.0.77" && at.After(want.Add(5*time.Second)) {
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
		return []string{clitest.NewestClaude, "2.1.197", "2.0.77"}
	}
	return []string{clitest.NewestClaude}
}

func TestScenario(t *testing.T) {
	t.Parallel()
	for _, sc := range scenarios {
		if !sc.quick && !full {
			continue
		}
		for _, version := range versions() {
			if slices.Contains(sc.not, version) {
				continue
			}
			t.Run(sc.name+"/"+version, func(t *testing.T) {
				t.Parallel()
				sc.play(t, version)
			})
		}
	}
}

// play runs the scenario once.
func (sc scenario) play(t *testing.T, version string) {
	want := sc.with(version)
	s := newStage(t, version, sc.script)
	s.env = want.env
	args := sc.args
	if args == nil {
		args = []string{"-p", "say hi"}
	}
	var r *ran
	if sc.stdin != "" {
		r = s.startBelay(sc.flags, args, strings.NewReader(sc.stdin)).wait()
	} else {
		r = s.belay(sc.flags, args)
	}
	r.exits(want.code)
	r.is(want.class, max(want.attempts, 1))
	s.asked(want.requests)
	if want.stdout != "*" {
		r.prints(want.stdout)
	}
	if sc.check != nil {
		sc.check(t, r)
	}
	s.nobodyLeft()
}

// with is the scenario with what differs for a version.
func (sc scenario) with(version string) scenario {
	other, ok := sc.older[version]
	if !ok {
		return sc
	}
	if other.requests != 0 {
		sc.requests = other.requests
	}
	if other.attempts != 0 {
		sc.attempts = other.attempts
	}
	if other.stdout != "" {
		sc.stdout = other.stdout
	}
	if other.class != "" {
		sc.class = other.class
	}
	if other.env != nil {
		sc.env = other.env
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
