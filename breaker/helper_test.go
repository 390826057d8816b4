package breaker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/internal/test/must"
)

var (
	errDown = errors.New("connection refused")
	errKey  = errors.New("invalid API key")
)

// t0 is when the tables of the pure machine begin.
var t0 = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return t0.Add(d) }

// noSpread keeps open times exact.
func noSpread() float64 { return 0 }

func exact() *breaker.Breaker { return &breaker.Breaker{Rand: noSpread} }

func succeed(context.Context) (int, error) { return 1, nil }

func fail(context.Context) (int, error) { return 0, errDown }

// call makes n calls through b that end with err, or are refused.
func call(t *testing.T, b *breaker.Breaker, n int, err error) {
	t.Helper()
	for range n {
		_, got := breaker.Do(t.Context(), b, func(context.Context) (int, error) { return 0, err })
		if got != err {
			t.Fatalf("got %v, want %v", got, err)
		}
	}
}

// open makes b half open in fake time: five failures, and the open time has passed.
func open(t *testing.T, b *breaker.Breaker) {
	t.Helper()
	call(t, b, 5, errDown)
	refused(t, b)
	time.Sleep(time.Until(b.State().Until))
}

// refused makes a call that has to be refused, and takes the refusal apart.
func refused(t *testing.T, b *breaker.Breaker) *breaker.OpenError {
	t.Helper()
	_, err := breaker.Do(t.Context(), b, func(context.Context) (int, error) {
		t.Error("the call was let through")
		return 0, nil
	})
	if !errors.Is(err, breaker.ErrOpen) {
		t.Fatalf("got %v, want ErrOpen", err)
	}
	e, ok := errors.AsType[*breaker.OpenError](err)
	if !ok {
		t.Fatalf("got %T, want an *OpenError", err)
	}
	return e
}

// allowed gets a call that has to be let through.
func allowed(t *testing.T, b *breaker.Breaker) *breaker.Call {
	t.Helper()
	c, err := b.Allow()
	must.OK(t, err)
	return &c
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}
