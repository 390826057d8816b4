package verdict_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/verdict"
)

func TestClass(t *testing.T) {
	tests := []struct {
		class      verdict.Class
		retryable  bool
		throttle   bool
		retryLimit int
	}{
		{"ok", false, false, 0},
		{"rate_limit", true, true, 0},
		{"usage_limit", false, true, 0},
		{"overloaded", true, false, 0},
		{"server_error", true, false, 0},
		{"network", true, false, 0},
		{"timeout", true, false, 0},
		{"stalled", true, false, 1},
		{"bad_output", true, false, 1},
		{"session_busy", true, false, 0},
		{"auth", false, false, 0},
		{"billing", false, false, 0},
		{"invalid_request", false, false, 0},
		{"not_found", false, false, 0},
		{"too_large", false, false, 0},
		{"session_not_found", false, false, 0},
		{"session_broken", false, false, 0},
		{"limit_reached", false, false, 0},
		{"refused", false, false, 0},
		{"blocked", false, false, 0},
		{"not_done", false, false, 0},
		{"conflict", false, false, 0},
		{"wrong_model", false, false, 0},
		{"resources", true, false, 1},
		{"runaway", true, false, 1},
		{"tool_missing", false, false, 0},
		{"interrupted", false, false, 0},
		{"crash", false, false, 0},
		{"breaker_open", false, false, 0},
		{"unknown", false, false, 0},
	}
	var all []verdict.Class
	for _, test := range tests {
		all = append(all, test.class)
		t.Run(string(test.class), func(t *testing.T) {
			c, err := verdict.ParseClass(string(test.class))
			if err != nil || c != test.class {
				t.Fatalf("ParseClass: %v, %v", c, err)
			}
			if c.Retryable() != test.retryable || c.Throttle() != test.throttle || c.RetryLimit() != test.retryLimit {
				t.Errorf("got %v, %v, %d", c.Retryable(), c.Throttle(), c.RetryLimit())
			}
		})
	}
	if got := verdict.Classes(); !slices.Equal(got, all) {
		t.Errorf("Classes: got %v, want %v", got, all)
	}
}

func TestClasses_IsACopy(t *testing.T) {
	verdict.Classes()[0] = "spoiled"
	if got := verdict.Classes()[0]; got != verdict.OK {
		t.Errorf("got %v", got)
	}
}

func TestParseClass_Unknown(t *testing.T) {
	for _, s := range []string{"", "RATE_LIMIT", "rate-limit", "throttled"} {
		_, err := verdict.ParseClass(s)
		if err == nil || !strings.Contains(err.Error(), "rate_limit, usage_limit") {
			t.Errorf("%q: error %v does not list the classes", s, err)
		}
	}
}
