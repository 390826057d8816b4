package agent

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// Classes says what the names mean that a CLI, or its service, gives to failures: the names of each class, with spaces in between.
type Classes map[verdict.Class]string

// All are the names with their classes.
func (c Classes) All() iter.Seq2[string, verdict.Class] {
	return func(yield func(string, verdict.Class) bool) {
		for class, names := range c {
			for name := range strings.FieldsSeq(names) {
				if !yield(name, class) {
					return
				}
			}
		}
	}
}

// Of is the class of a name; ok is false if it has none.
func (c Classes) Of(name string) (class verdict.Class, ok bool) {
	for known, class := range c.All() {
		if known == name {
			return class, true
		}
	}
	return "", false
}

// Rules are rules of a CLI about what it says of failures, which are compiled when they are first asked.
type Rules struct {
	Table    []verdict.Rule
	once     sync.Once
	compiled *verdict.Rules
}

// Judge asks the rules, as [verdict.Rules.Judge] does. It panics if they are wrong, which a test of the CLI's folder would show.
func (r *Rules) Judge(o verdict.Outcome, now time.Time) (verdict.Verdict, bool) {
	r.once.Do(func() {
		var err error
		if r.compiled, err = verdict.Compile(r.Table...); err != nil {
			panic(err)
		}
	})
	return r.compiled.Judge(o, now)
}

var colour = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;]*m") })

// WithoutColour is a text without the sequences that make it coloured.
func WithoutColour(text string) string {
	if !strings.Contains(text, "\x1b[") {
		return text
	}
	return colour().ReplaceAllString(text, "")
}

// APICodes are what OpenAI's API, and those that are like it, call an error in the body of an answer.
var APICodes = Classes{
	verdict.TooLarge: "context_length_exceeded string_above_max_length request_too_large",
	verdict.NotFound: "model_not_found not_found_error",
	verdict.Billing: "insufficient_quota billing_not_active billing_hard_limit_reached " +
		"organization_spend_limit_exceeded usage_not_included",
	verdict.UsageLimit:  "usage_limit_reached",
	verdict.RateLimit:   "rate_limit_exceeded rate_limit_error",
	verdict.Overloaded:  "server_is_overloaded slow_down overloaded_error",
	verdict.ServerError: "server_error internal_server_error",
	verdict.Auth: "invalid_api_key invalid_organization token_expired unsupported_country_region_territory " +
		"account_deactivated authentication_error permission_error",
	// invalid_prompt is "flagged as potentially violating our usage policy".
	verdict.Refused: "content_filter content_policy_violation invalid_prompt",
}

// ClassOfCode says what the code of an error in the body of an answer means. own are codes that the CLI knows beyond those that
// all services share.
func ClassOfCode(code string, own Classes) (verdict.Class, bool) {
	if class, ok := own.Of(code); ok {
		return class, true
	}
	return APICodes.Of(code)
}

// WrongForm is the verdict on a CLI that has ended with 0 and has printed text to a caller who asked for another form: a page of a proxy, say, which the
// caller could not parse. ok is false where the form is what was asked for, or nothing was printed. Any line that begins as JSON counts as JSON: the answer may
// be on several lines, or follow a warning. Within another run, as env tells, the caller may be Belay, which asks for events where its own caller has not.
func WrongForm(asked Form, env []string, printed string) (v verdict.Verdict, ok bool) {
	within := slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, supervise.RunIDVar+"=") })
	if asked == Text || within || strings.TrimSpace(printed) == "" {
		return v, false
	}
	for line := range strings.Lines(printed) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "{") || strings.HasPrefix(line, "[") {
			return v, false
		}
	}
	return verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "no-json", Evidence: "exit 0 without any JSON, which was asked for"}, true
}
