package agent

import (
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

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
