package belay_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/boundary"
	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// statusError is an error as clients of HTTP APIs have it.
type statusError struct{ StatusCode int }

func (e *statusError) Error() string { return fmt.Sprint("status ", e.StatusCode) }

func TestClassify(t *testing.T) {
	run := func(class verdict.Class, retryable bool) error {
		return &belay.Error{Verdict: verdict.Verdict{Class: class, Retryable: retryable}, Message: "it failed"}
	}
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"Success":             {nil, "ok false  "},
		"RunThrottled":        {run(verdict.RateLimit, true), "rate_limit true sdk warning"},
		"RunDeadline":         {run(verdict.Timeout, false), "timeout false connection error"},
		"RunTimeout":          {run(verdict.Timeout, true), "timeout true connection warning"},
		"RunWrapped":          {fmt.Errorf("deploy: %w", run(verdict.Auth, false)), "auth false sdk error"},
		"WrongUse":            {&belay.UsageError{Err: errors.New("no command")}, "invalid_request false sdk error"},
		"Interrupt":           {&belay.Interrupt{Name: "SIGINT"}, "interrupted false unknown error"},
		"Cancelled":           {fmt.Errorf("call: %w", context.Canceled), "interrupted false unknown error"},
		"Deadline":            {context.DeadlineExceeded, "timeout false connection error"},
		"ReadTimeout":         {&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, "timeout false connection error"},
		"DialTimeout":         {&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, "network true connection warning"},
		"Reset":               {syscall.ECONNRESET, "network true connection warning"},
		"DNS":                 {&net.DNSError{Err: "no such host"}, "network true connection warning"},
		"Status401":           {&statusError{401}, "auth false sdk error"},
		"Status404":           {&statusError{404}, "not_found false sdk error"},
		"Status425":           {&statusError{425}, "server_error true sdk warning"},
		"Status429":           {&statusError{429}, "rate_limit true sdk warning"},
		"Status503":           {fmt.Errorf("list: %w", &statusError{503}), "server_error true sdk warning"},
		"Status529":           {&statusError{529}, "overloaded true sdk warning"},
		"BreakerOpen":         {&breaker.OpenError{}, "breaker_open false unknown error"},
		"RetriesUsedUp":       {&retry.Error{Err: syscall.ECONNRESET, Cause: retry.ErrExhausted}, "network true connection warning"},
		"RetriedPermanent":    {&retry.Error{Err: &statusError{400}, Cause: retry.ErrPermanent}, "invalid_request false sdk error"},
		"RetriedTwice":        {&retry.Error{Err: &retry.Error{Err: &statusError{500}, Cause: retry.ErrExhausted}, Cause: retry.ErrPermanent}, "server_error true sdk warning"},
		"StoppedAtTheBreaker": {&retry.Error{Err: syscall.ECONNRESET, Cause: &breaker.OpenError{}}, "breaker_open false unknown error"},
		"NeverTried":          {&retry.Error{Cause: context.Canceled}, "interrupted false unknown error"},
		"Anything":            {errors.New("connection reset by peer"), "unknown false unknown error"},
	} {
		c := belay.Classify(tt.err)
		if got := fmt.Sprintf("%s %v %s %s", c.Type, c.IsRetryable, c.Category, c.Severity); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		if tt.err != nil && c.Message != tt.err.Error() {
			t.Errorf("%s: message %q", name, c.Message)
		}
	}
}

// What a handler is called and what it says is not trusted, alerts are as the State says, and a record that cannot be written is told
// of and stops nothing.
func TestState_Recorder(t *testing.T) {
	var nowhere *belay.State
	if nowhere.Recorder() != nil {
		t.Error("a nil State has a recorder")
	}
	if c, err := nowhere.HandleError(syscall.ECONNRESET, belay.Session{}, nil); err != nil || c.Type != verdict.Network {
		t.Errorf("a nil State: %+v, %v", c, err)
	}

	dir := t.TempDir()
	var told []belay.Event
	state := &belay.State{Dir: dir + "/made/by it", Alert: belay.Alert{Failures: 2}, Observe: func(e belay.Event) { told = append(told, e) }}
	const key = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz"
	failure := boundary.Failure{Kind: boundary.KindHook, Name: "../../x\n\x00\xff" + strings.Repeat("y", 9000), Event: "Stop\"\n", Cause: boundary.Panicked,
		Text: "panic: " + key, Stack: strings.Repeat("main.f("+key+")\n", 900)}
	for range 3 {
		state.Recorder()(failure)
	}
	data := text(t, state.LogPath())
	if strings.Count(data, "\n") != 4 || strings.Count(data, `"kind":"hook"`) != 3 || strings.Count(data, `"kind":"alert"`) != 1 || strings.Contains(data, "abcdefghij") {
		t.Errorf("on record:\n%s", data)
	}
	if raised, ok := told[0].(belay.AlertRaised); len(told) != 1 || !ok || raised.Failures != 2 || raised.Within != 10*time.Minute {
		t.Errorf("told %v", told)
	}

	told = nil
	state.Dir = state.LogPath() // which is not a directory
	state.Recorder()(failure)
	_, err := state.HandleError(syscall.ECONNRESET, belay.Session{}, nil)
	if _, ok := told[0].(belay.StateTrouble); len(told) != 2 || !ok || err == nil {
		t.Errorf("told %v, %v", told, err)
	}
	state.Observe = nil
	state.Recorder()(failure)
}
