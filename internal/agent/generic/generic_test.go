package generic_test

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func TestJudge(t *testing.T) {
	outcome := func(code int, stdout, stderr string) verdict.Outcome {
		return verdict.Outcome{ExitCode: code, Stdout: verdict.ExcerptOf(stdout), Stderr: verdict.ExcerptOf(stderr)}
	}
	signal := func(name string) verdict.Outcome { return verdict.Outcome{ExitCode: -1, Signal: name} }
	always := generic.Options{Retry: true}
	tests := map[string]struct {
		options   generic.Options
		outcome   verdict.Outcome
		class     verdict.Class
		retryable bool
		rule      string
	}{
		"success":                               {always, outcome(0, "", ""), verdict.OK, false, "exit-0"},
		"success that quotes an error":          {always, outcome(0, "HTTP 429 rate limit exceeded", ""), verdict.OK, false, "exit-0"},
		"failure without being asked":           {generic.Options{}, outcome(1, "", "connection reset"), verdict.Network, false, "exit-code"},
		"any failure":                           {always, outcome(1, "", ""), verdict.Unknown, true, "exit-code"},
		"a listed code":                         {generic.Options{RetryExit: []int{1, 75}}, outcome(75, "", ""), verdict.Unknown, true, "retry-on-exit"},
		"a code that is not listed":             {generic.Options{Retry: true, RetryExit: []int{75}}, outcome(1, "", ""), verdict.Unknown, false, "exit-code"},
		"a pattern on stderr":                   {generic.Options{RetryOn: "rate.limit"}, outcome(1, "", "Rate Limit hit"), verdict.RateLimit, true, "retry-on"},
		"a pattern on stdout":                   {generic.Options{RetryOn: "^try again$"}, outcome(1, "a\ntry again\nb", ""), verdict.Unknown, true, "retry-on"},
		"a pattern that is not there":           {generic.Options{Retry: true, RetryOn: "x"}, outcome(1, "", "y"), verdict.Unknown, false, "exit-code"},
		"a pattern in a success":                {generic.Options{RetryOn: "x"}, outcome(0, "x", ""), verdict.OK, false, "exit-0"},
		"code or pattern":                       {generic.Options{RetryExit: []int{3}, RetryOn: "x"}, outcome(3, "", ""), verdict.Unknown, true, "retry-on-exit"},
		"a fatal pattern in a success":          {generic.Options{FailOn: "panic"}, outcome(0, "", "PANIC: x"), verdict.Unknown, false, "fail-on"},
		"a fatal pattern beats a retry":         {generic.Options{Retry: true, FailOn: "bad key"}, outcome(1, "", "bad key"), verdict.Unknown, false, "fail-on"},
		"killed":                                {generic.Options{}, signal("SIGKILL"), verdict.Crash, false, "exit-code"},
		"killed, and asked":                     {always, signal("SIGSEGV"), verdict.Crash, true, "exit-code"},
		"killed, as a shell's code":             {generic.Options{RetryExit: []int{137}}, signal("SIGKILL"), verdict.Crash, true, "retry-on-exit"},
		"interrupted":                           {always, signal("SIGINT"), verdict.Interrupted, false, "interrupted"},
		"interrupted, as a code":                {always, outcome(130, "", ""), verdict.Interrupted, false, "interrupted"},
		"terminated":                            {always, signal("SIGTERM"), verdict.Interrupted, false, "interrupted"},
		"terminated, and that is worth a retry": {generic.Options{RetryExit: []int{143}}, signal("SIGTERM"), verdict.Crash, true, "retry-on-exit"},
		"throttled, and asked":                  {always, outcome(22, "", "curl: (22) The requested URL returned error: 429"), verdict.RateLimit, true, "exit-code"},
		"throttled, in words":                   {always, outcome(1, "", "Too Many Requests"), verdict.RateLimit, true, "exit-code"},
		"throttled, by a registry":              {always, outcome(1, "", "Error response from daemon: toomanyrequests: You have reached your pull rate limit."), verdict.RateLimit, true, "exit-code"},
		"throttled, by AWS":                     {always, outcome(254, "", "An error occurred (RequestLimitExceeded) when calling the DescribeInstances operation: Request limit exceeded."), verdict.RateLimit, true, "exit-code"},
		"throttled, by Google":                  {always, outcome(1, "", "ERROR: (gcloud.x) RESOURCE_EXHAUSTED: Quota exceeded for quota metric"), verdict.RateLimit, true, "exit-code"},
		"a test of a throttle":                  {always, outcome(1, "FAIL: TestRateLimiter (0.00s)\ntest_429_is_retried FAILED", ""), verdict.Unknown, true, "exit-code"},
		"no connection, by npm":                 {always, outcome(1, "", "npm error network request to https://x failed, reason: connect ETIMEDOUT 104.16.0.1:443"), verdict.Network, true, "exit-code"},
		"throttled, not asked":                  {generic.Options{}, outcome(1, "", "Too Many Requests"), verdict.RateLimit, false, "exit-code"},
		"a number is no status":                 {always, outcome(1, "", "read 429 lines"), verdict.Unknown, true, "exit-code"},
		"overloaded":                            {always, outcome(1, "", "API Error: 529 overloaded"), verdict.Overloaded, true, "exit-code"},
		"a server error":                        {always, outcome(22, "HTTP/1.1 503 Service Unavailable", ""), verdict.ServerError, true, "exit-code"},
		"a server error, by curl":               {always, outcome(22, "", "The requested URL returned error: 502"), verdict.ServerError, true, "exit-code"},
		"no connection":                         {always, outcome(7, "", "curl: (7) Failed to connect: Connection refused"), verdict.Network, true, "exit-code"},
		"no name":                               {generic.Options{RetryExit: []int{6}}, outcome(6, "", "curl: (6) Could not resolve host: x"), verdict.Network, true, "retry-on-exit"},
		"a success that was refused":            {always, outcome(0, "HTTP/1.1 429 Too Many Requests", ""), verdict.OK, false, "exit-0"},
		"a user's rule": {generic.Options{Rules: []verdict.Rule{{Name: "ours", Class: verdict.UsageLimit, Match: "quota"}}},
			outcome(1, "", "quota used up"), verdict.UsageLimit, false, "ours"},
		"a user's rule abstains": {generic.Options{Retry: true, Rules: []verdict.Rule{{Name: "ours", Class: verdict.Auth, Match: "quota"}}},
			outcome(1, "", "x"), verdict.Unknown, true, "exit-code"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := generic.New(tt.options)
			must.OK(t, err)
			v := p.Judge(tt.outcome, now)
			if v.Class != tt.class || v.Retryable != tt.retryable || v.Rule != tt.rule {
				t.Errorf("got %s, retryable %v, by %s", v.Class, v.Retryable, v.Rule)
			}
		})
	}
}

func TestJudge_TakesHintsOfWhatIsRepeated(t *testing.T) {
	o := verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("HTTP/1.1 429\nRetry-After: 17\n")}
	asked, _ := generic.New(generic.Options{Retry: true})
	if v := asked.Judge(o, now); v.Hint.Wait(now) != 17*time.Second {
		t.Errorf("hint %+v", v.Hint)
	}
	not, _ := generic.New(generic.Options{})
	if v := not.Judge(o, now); !v.Hint.IsZero() {
		t.Errorf("hint %+v of a failure that is not repeated", v.Hint)
	}
}

func TestJudge_EvidenceIsWhatDecided(t *testing.T) {
	p, _ := generic.New(generic.Options{RetryOn: "limit"})
	o := verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf("first\nhit the limit\nlast")}
	if v := p.Judge(o, now); !strings.Contains(v.Evidence, "hit the limit") {
		t.Errorf("evidence %q", v.Evidence)
	}
	o = verdict.Outcome{ExitCode: 7}
	if v := p.Judge(o, now); v.Evidence != "exit 7" {
		t.Errorf("evidence %q", v.Evidence)
	}
}

func TestNew_NamesTheMistake(t *testing.T) {
	for _, o := range []generic.Options{{RetryOn: "("}, {FailOn: "("}, {Rules: []verdict.Rule{{Name: "r", Class: "nonsense", Match: "x"}}}} {
		if _, err := generic.New(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}
