package gemini

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/verdict"
)

// What gemini says on stderr when it is about to try again, in all the ways that it has.
func TestRetryNotice(t *testing.T) {
	const body = `_ApiError: {"error":{"code":%,"message":"#","status":"X"}}`
	of := func(status, message string) string {
		return strings.NewReplacer("%", status, "#", message).Replace(body)
	}
	for name, tt := range map[string]struct {
		text     string
		class    verdict.Class
		wait     time.Duration
		hint     time.Duration
		hopeless bool
	}{
		"a 429":              {"Attempt 1 failed with status 429. Retrying with backoff... " + of("429", "Resource has been exhausted (e.g. check quota)."), verdict.RateLimit, 5 * time.Second, 0, false},
		"a 500":              {"Attempt 2 failed with status 500. Retrying with backoff... " + of("500", "An internal error has occurred."), verdict.ServerError, 10 * time.Second, 0, false},
		"an overload":        {"Attempt 3 failed with status 503. Retrying with backoff... " + of("503", "The model is overloaded. Please try again later."), verdict.Overloaded, 20 * time.Second, 0, false},
		"a 503":              {"Attempt 9 failed with status 503. Retrying with backoff... " + of("503", "Unavailable"), verdict.ServerError, 30 * time.Second, 0, false},
		"no connection":      {"Attempt 1 failed. Retrying with backoff... Error: exception TypeError: fetch failed sending request", verdict.Network, 5 * time.Second, 0, false},
		"a status in text":   {"Attempt 1 failed with 5xx error. Retrying with backoff... Error: got 502", verdict.Unknown, 5 * time.Second, 0, false},
		"told when":          {"Attempt 1 failed: Resource has been exhausted (e.g. check quota).\nSuggested retry after 3s.. Retrying after 5926ms...", verdict.RateLimit, 5926 * time.Millisecond, 3 * time.Second, false},
		"told in one line":   {"Attempt 2 failed: You exceeded your current quota, please check your plan and billing details. Please retry in 22.5s.. Retrying after 24000ms...", verdict.RateLimit, 24 * time.Second, 22500 * time.Millisecond, false},
		"told in many lines": {"Attempt 1 failed: You exceeded your current quota.\n* Quota exceeded for metric: x, limit: 10\nPlease retry in 2s.. Retrying after 5100ms...", verdict.RateLimit, 5100 * time.Millisecond, 2 * time.Second, false},
		"no money":           {"Attempt 1 failed with status 429. Retrying with backoff... " + of("429", "Your prepayment credits are depleted."), verdict.Billing, 5 * time.Second, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			var n retryNotice
			lines := strings.Split("Ripgrep is not available. Falling back to GrepTool.\n"+tt.text+"\n    at file:///x.js:1:2 {\n  status: 429\n}", "\n")
			told := 0
			for _, line := range lines {
				r := n.read(line)
				if r == nil {
					continue
				}
				told++
				if r.Verdict.Class != tt.class || r.Wait != tt.wait || r.Verdict.Hint.After != tt.hint || r.Hopeless != tt.hopeless || r.Verdict.Evidence == "" {
					t.Errorf("%+v", r)
				}
			}
			if told != 1 {
				t.Errorf("told of %d retries", told)
			}
		})
	}
}

// What is no notice, or the end of the attempts.
func TestRetryNotice_None(t *testing.T) {
	for _, text := range []string{
		"Attempt 10 failed: Resource has been exhausted (e.g. check quota).. Max attempts reached",
		"Attempt 10 failed: It was\nlong.. Max attempts reached\n. Retrying after 5000ms...",
		"Attempt to read the file failed. Retrying after 5000ms...",
		"Error executing tool run_shell_command: Attempt 1 failed with status 429. Retrying with backoff... x",
		"  Attempt 1 failed with status 429. Retrying with backoff... x",
		"Attempt 1 failed: " + strings.Repeat("a long line\n", 1000) + "x. Retrying after 5000ms...",
	} {
		var n retryNotice
		for _, line := range strings.Split(text, "\n") {
			if r := n.read(line); r != nil {
				t.Errorf("%.100q: %+v", text, r)
			}
		}
	}
}
