package retry_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay/retry"
)

var (
	errLost  = errors.New("connection lost")
	errLimit = errors.New("429 too many requests")
	errKey   = errors.New("invalid API key")
)

// classify knows the three errors above: transient, throttle, permanent.
func classify(err error) retry.Advice {
	return retry.Advice{
		Retry:     errors.Is(err, errLost) || errors.Is(err, errLimit),
		Throttled: errors.Is(err, errLimit),
	}
}

// script plays a function that fails with one error an attempt and then succeeds. It notes when it was called.
type script struct {
	errs  []error
	start time.Time
	at    []time.Duration
}

func play(errs ...error) *script {
	return &script{errs: errs, start: time.Now()}
}

// always is a script that does not succeed within a test.
func always(err error) *script {
	return play(slices.Repeat([]error{err}, 100)...)
}

func (s *script) fn(context.Context) (int, error) {
	s.at = append(s.at, time.Since(s.start))
	n := len(s.at)
	if n <= len(s.errs) {
		return n, s.errs[n-1]
	}
	return n, nil
}

// gaps are the waits between the attempts, which themselves take no time.
func (s *script) gaps() []time.Duration {
	var gaps []time.Duration
	for i := 1; i < len(s.at); i++ {
		gaps = append(gaps, s.at[i]-s.at[i-1])
	}
	return gaps
}

func seconds(ns ...float64) []time.Duration {
	var ds []time.Duration
	for _, n := range ns {
		ds = append(ds, time.Duration(n*float64(time.Second)))
	}
	return ds
}

func constant(r float64) func() float64 { return func() float64 { return r } }

// stopped takes an *Error apart that has to be there.
func stopped(t *testing.T, err error, cause error) *retry.Error {
	t.Helper()
	e, ok := errors.AsType[*retry.Error](err)
	if !ok {
		t.Fatalf("got %v, want a *retry.Error", err)
	}
	if e.Cause != cause || !errors.Is(err, cause) {
		t.Fatalf("got cause %v, want %v", e.Cause, cause)
	}
	return e
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func equalAll[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
