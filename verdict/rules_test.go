package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

func compile(t testing.TB, rules ...verdict.Rule) *verdict.Rules {
	t.Helper()
	r, err := verdict.Compile(rules...)
	must.OK(t, err)
	return r
}

func exited(code int, stdout, stderr string) verdict.Outcome {
	return verdict.Outcome{ExitCode: code, Stdout: verdict.ExcerptOf(stdout), Stderr: verdict.ExcerptOf(stderr)}
}

func killed(signal string) verdict.Outcome {
	return verdict.Outcome{ExitCode: -1, Signal: signal}
}

func TestRules_Conditions(t *testing.T) {
	tests := []struct {
		name    string
		rule    verdict.Rule
		outcome verdict.Outcome
		speaks  bool
	}{
		{"AnyFailure", verdict.Rule{}, exited(1, "", ""), true},
		{"AnyFailure/Signal", verdict.Rule{}, killed("SIGKILL"), true},
		{"AnyFailure/Success", verdict.Rule{}, exited(0, "", ""), false},
		{"Exit", verdict.Rule{Exit: []int{4, 75}}, exited(75, "", ""), true},
		{"Exit/Other", verdict.Rule{Exit: []int{4, 75}}, exited(1, "", ""), false},
		{"Exit/Signal", verdict.Rule{Exit: []int{9}}, killed("SIGKILL"), false},
		{"Exit/Zero", verdict.Rule{Exit: []int{0}}, exited(0, "", ""), true},
		{"Signal", verdict.Rule{Signal: []string{"kill", "11"}}, killed("SIGSEGV"), true},
		{"Signal/Other", verdict.Rule{Signal: []string{"kill"}}, killed("SIGSEGV"), false},
		{"Signal/SpelledOtherwise", verdict.Rule{Signal: []string{"kill"}}, killed("9"), true},
		{"Signal/NotKnown", verdict.Rule{Signal: []string{"kill"}}, killed("SIGRTMIN+3"), false},
		{"Signal/Exit", verdict.Rule{Signal: []string{"kill"}}, exited(137, "", ""), false},
		{"ExitOrSignal/Exit", verdict.Rule{Exit: []int{137}, Signal: []string{"kill"}}, exited(137, "", ""), true},
		{"ExitOrSignal/Signal", verdict.Rule{Exit: []int{137}, Signal: []string{"kill"}}, killed("SIGKILL"), true},
		{"ExitOrSignal/Other", verdict.Rule{Exit: []int{137}, Signal: []string{"kill"}}, exited(1, "", ""), false},

		{"Match/Stderr", verdict.Rule{Match: "too many"}, exited(1, "", "429 Too Many Requests"), true},
		{"Match/Stdout", verdict.Rule{Match: "too many"}, exited(1, "429 Too Many Requests", ""), true},
		{"Match/None", verdict.Rule{Match: "too many"}, exited(1, "too", "many"), false},
		{"Match/Success", verdict.Rule{Match: "too many"}, exited(0, "too many", ""), false},
		{"Match/AndExit", verdict.Rule{Match: "too many", Exit: []int{2}}, exited(1, "too many", ""), false},
		{"Match/AnyExit", verdict.Rule{Match: "too many", AnyExit: true}, exited(0, "too many", ""), true},
		{"Match/AnyExitSignal", verdict.Rule{Match: "too many", AnyExit: true}, verdict.Outcome{
			ExitCode: -1, Signal: "SIGTERM", Stdout: verdict.ExcerptOf("too many")}, true},
		{"Stream/Stdout", verdict.Rule{Match: "no", Stream: "stdout"}, exited(1, "no", ""), true},
		{"Stream/NotStdout", verdict.Rule{Match: "no", Stream: "stdout"}, exited(1, "", "no"), false},
		{"Stream/Stderr", verdict.Rule{Match: "no", Stream: "stderr"}, exited(1, "", "no"), true},
		{"Stream/NotStderr", verdict.Rule{Match: "no", Stream: "stderr"}, exited(1, "no", ""), false},

		{"Case", verdict.Rule{Match: "RATE limit"}, exited(1, "", "Rate Limit"), true},
		{"Case/LongS", verdict.Rule{Match: "session"}, exited(1, "", "ſeſſion"), true},
		{"Case/KelvinSign", verdict.Rule{Match: "key missing"}, exited(1, "", "\u212aey missing"), true},
		{"Case/OnRequest", verdict.Rule{Match: "(?-i:Rate)"}, exited(1, "", "rate"), false},
		{"Apostrophe/CurlyText", verdict.Rule{Match: "you've hit"}, exited(1, "", "You’ve hit your limit"), true},
		{"Apostrophe/CurlyRule", verdict.Rule{Match: "you’ve hit"}, exited(1, "", "You've hit your limit"), true},
		{"Apostrophe/Class", verdict.Rule{Match: `it[’"]s`}, exited(1, "", "it's"), true},
		{"Apostrophe/NegatedClass", verdict.Rule{Match: `it[^']s`}, exited(1, "", "it’s"), false},
		{"Colours", verdict.Rule{Match: "rate limit"}, exited(1, "", "\x1b[31mrate \x1b[1mlimit\x1b[0m"), true},
		{"LineEnds", verdict.Rule{Match: `^fatal$`}, exited(1, "", "one\r\nfatal\r\ntwo"), true},
		{"LineEnds/Not", verdict.Rule{Match: `^fatal$`}, exited(1, "", "one\nfatal error\ntwo"), false},
		{"TextEnds", verdict.Rule{Match: `\Afatal`}, exited(1, "", "one\nfatal"), false},
		{"AcrossLines", verdict.Rule{Match: `"code": 429,\s+"status"`}, exited(1, "", "{\n  \"code\": 429,\n  \"status\": 1"), true},
		{"SecondLineThatHasTheWord", verdict.Rule{Match: `limit: \d+`}, exited(1, "", "limit: none\nlimit: 5"), true},
		{"SecondWord", verdict.Rule{Match: `(?:limit|quota): \d+`}, exited(1, "", "limit: none\nquota: 5"), true},
		{"NotAllWords", verdict.Rule{Match: `limit:\s+reached`}, exited(1, "", "reached none"), false},
		{"NotAllWords/OneLine", verdict.Rule{Match: `limit:.?reached`}, exited(1, "", "limit: none\nreached"), false},
		{"NoWord", verdict.Rule{Match: `\d{3}`}, exited(1, "", "HTTP 503"), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.rule.Class = verdict.RateLimit
			v, ok := compile(t, test.rule).Judge(test.outcome, now)
			if ok != test.speaks {
				t.Fatalf("speaks: %v, want %v", ok, test.speaks)
			}
			if ok && v.Class != verdict.RateLimit {
				t.Errorf("class %v", v.Class)
			}
			if !ok && (v.Class != "" || v.Rule != "") {
				t.Errorf("abstained with %+v", v)
			}
		})
	}
}

func TestRules_FirstThatSpeaksWins(t *testing.T) {
	rules := compile(t,
		verdict.Rule{Name: "a", Class: verdict.Auth, Match: "unauthorized"},
		verdict.Rule{Class: verdict.RateLimit, Match: "429"},
		verdict.Rule{Name: "c", Class: verdict.Overloaded, Match: "429|529"},
	)
	for text, want := range map[string]string{
		"401 Unauthorized":      "a",
		"429 and 529":           "rule 2",
		"529":                   "c",
		"unauthorized 429, 529": "a",
	} {
		if v, ok := rules.Judge(exited(1, "", text), now); !ok || v.Rule != want {
			t.Errorf("%q: rule %q, want %q", text, v.Rule, want)
		}
	}
}

func TestRules_NoneAbstain(t *testing.T) {
	var none *verdict.Rules
	for _, rules := range []*verdict.Rules{none, compile(t)} {
		if v, ok := rules.Judge(exited(1, "out", "err"), now); ok {
			t.Errorf("got %+v", v)
		}
	}
}

func TestRules_Retryable(t *testing.T) {
	yes, no := true, false
	for _, test := range []struct {
		rule verdict.Rule
		want bool
	}{
		{verdict.Rule{Class: verdict.Network}, true},
		{verdict.Rule{Class: verdict.Network, Retryable: &no}, false},
		{verdict.Rule{Class: verdict.Unknown}, false},
		{verdict.Rule{Class: verdict.Unknown, Retryable: &yes}, true},
		{verdict.Rule{Class: verdict.UsageLimit}, false},
	} {
		if v, _ := compile(t, test.rule).Judge(exited(1, "", ""), now); v.Retryable != test.want {
			t.Errorf("%+v: retryable %v", test.rule, v.Retryable)
		}
	}
}

func TestRules_Hint(t *testing.T) {
	no := false
	tests := []struct {
		name           string
		rule           verdict.Rule
		stdout, stderr string
		want           time.Duration
	}{
		{"Retryable", verdict.Rule{Class: verdict.Overloaded, Match: "busy"}, "", "busy, try again in 5s", 5 * time.Second},
		{"Throttle", verdict.Rule{Class: verdict.UsageLimit, Match: "limit"}, "", "limit resets in 2h", 2 * time.Hour},
		{"Permanent", verdict.Rule{Class: verdict.Auth, Match: "denied"}, "", "denied, try again in 5s", 0},
		{"MadePermanent", verdict.Rule{Class: verdict.Network, Match: "reset", Retryable: &no}, "", "reset in 5s", 0},
		{"OtherStream", verdict.Rule{Class: verdict.RateLimit, Match: "403"}, "Retry-After: 60", "403", time.Minute},
		{"OwnStreamFirst", verdict.Rule{Class: verdict.RateLimit, Match: "slow"}, "try again in 9s", "slow, try again in 5s", 5 * time.Second},
		{"HeaderElsewhereFirst", verdict.Rule{Class: verdict.RateLimit, Match: "slow"}, "Retry-After: 9", "slow, try again in 5s", 9 * time.Second},
		{"OwnHeaderFirst", verdict.Rule{Class: verdict.RateLimit, Match: "slow", Stream: "stdout"}, "slow\nRetry-After: 9", "Retry-After: 5", 9 * time.Second},
		{"WithoutMatch", verdict.Rule{Class: verdict.RateLimit}, "try again in 9s", "oh no", 9 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v, ok := compile(t, test.rule).Judge(exited(1, test.stdout, test.stderr), now)
			if !ok || v.Hint.After != test.want {
				t.Errorf("got %v, %v, want %v", v.Hint, ok, test.want)
			}
		})
	}
}

func TestRules_Evidence(t *testing.T) {
	long := strings.Repeat("padding ", 1000)
	tests := []struct {
		name           string
		match          string
		stdout, stderr string
		want           string
	}{
		{"Line", "limit", "", "one\n  You’ve hit your limit  \nthree’s", "You’ve hit your limit"},
		{"LineAfterApostrophes", "limit", "", "it’s ’’’\nyou’ve hit your limit, haven’t you\nthree", "you’ve hit your limit, haven’t you"},
		{"NoControls", "limit", "", "\x1b[31mrate\x00 limit\x07\x1b[0m\n", "rate limit"},
		{"WithoutMatch", "", "out", "one\ntwo\nthree\nfour\n", "two\nthree\nfour"},
		{"WithoutMatchStdout", "", "one\ntwo", "\n", "one\ntwo"},
		{"WithoutAnything", "", "", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v, _ := compile(t, verdict.Rule{Class: verdict.RateLimit, Match: test.match}).Judge(exited(1, test.stdout, test.stderr), now)
			if v.Evidence != test.want {
				t.Errorf("got %q, want %q", v.Evidence, test.want)
			}
		})
	}
	t.Run("LongLine", func(t *testing.T) {
		v, ok := compile(t, verdict.Rule{Class: verdict.RateLimit, Match: "overloaded"}).
			Judge(exited(1, long+"the model is overloaded"+long, ""), now)
		if !ok || !strings.Contains(v.Evidence, "the model is overloaded") {
			t.Errorf("evidence does not show the match: %q", v.Evidence)
		}
		if !strings.HasPrefix(v.Evidence, "…") || !strings.HasSuffix(v.Evidence, "…") || showable(v.Evidence, 400) != "" {
			t.Errorf("evidence is not cut well: %q", v.Evidence)
		}
	})
}

// A line of 16 MiB is seen at both ends.
func TestRules_LineOf16MiB(t *testing.T) {
	line := strings.Repeat(`{"text":"nothing to see here"},`, 16<<20/32) + `"error":"rate_limit","retry_after":17`
	rules := compile(t, verdict.Rule{Class: verdict.RateLimit, Match: `"error":\s*"rate_limit"`})
	v, ok := rules.Judge(exited(1, line, ""), now)
	if !ok || v.Hint.After != 17*time.Second {
		t.Errorf("got %+v, %v", v, ok)
	}
}

func TestCompile_Errors(t *testing.T) {
	yes := true
	tests := []struct {
		rule verdict.Rule
		want string
	}{
		{verdict.Rule{Name: "mine"}, `rule 2 (mine): unknown class ""`},
		{verdict.Rule{Class: "ratelimit"}, `rule 2: unknown class "ratelimit" (one of ok, rate_limit, `},
		{verdict.Rule{Class: verdict.OK, Retryable: &yes}, "rule 2: class ok cannot be retryable"},
		{verdict.Rule{Class: verdict.Auth, AnyExit: true}, "rule 2: any_exit needs match, and neither exit nor signal"},
		{verdict.Rule{Class: verdict.Auth, AnyExit: true, Match: "x", Exit: []int{1}}, "rule 2: any_exit needs match, and neither exit nor signal"},
		{verdict.Rule{Class: verdict.Auth, Match: "x", Stream: "stdin"}, `rule 2: unknown stream "stdin" (stdout or stderr, or leave it out for either)`},
		{verdict.Rule{Class: verdict.Auth, Stream: "stdout"}, "rule 2: stream needs match"},
		{verdict.Rule{Class: verdict.Crash, Signal: []string{"TERM", "OOPS"}}, `rule 2: unknown signal "OOPS"`},
		{verdict.Rule{Class: verdict.Auth, Name: "mine", Match: "a(b"}, "rule 2 (mine): match: missing closing ) in `a(b`"},
		{verdict.Rule{Class: verdict.Auth, Match: `a\zz)`}, "rule 2: match: unexpected ) in `a\\zz)`"},
		{verdict.Rule{Class: verdict.Auth, Match: `(?<=a)b`}, "rule 2: match: invalid named capture in `(?<=a)b`"},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			_, err := verdict.Compile(verdict.Rule{Class: verdict.Network}, test.rule)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCompile_LeavesTheRulesAlone(t *testing.T) {
	signals := []string{"kill"}
	rules := compile(t, verdict.Rule{Class: verdict.Crash, Signal: signals})
	if signals[0] != "kill" {
		t.Errorf("changed to %q", signals[0])
	}
	signals[0] = "TERM"
	if _, ok := rules.Judge(killed("SIGKILL"), now); !ok {
		t.Error("a change after Compile counted")
	}
}
