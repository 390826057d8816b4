package gatetest

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/test/must"
)

// failures is a state that is told apart by a number, and not healthy unless that is 0.
func failures(n int) gate.State { return gate.State{Breaker: breaker.State{Failures: n}} }

// count makes a state the next one, which is n+1.
func count(t *testing.T, s gate.Store, key string, n int) {
	t.Helper()
	update(t, s, key, time.Now(), func(g gate.State) gate.State {
		same(t, g, failures(n))
		return failures(g.Breaker.Failures + 1)
	})
}

func update(t *testing.T, s gate.Store, key string, now time.Time, change func(gate.State) gate.State) {
	t.Helper()
	if err := s.Update(key, now, change); err != nil {
		t.Fatalf("update of %q: %v", key, err)
	}
}

func put(t *testing.T, s gate.Store, key string, now time.Time, state gate.State) {
	t.Helper()
	update(t, s, key, now, func(gate.State) gate.State { return state })
}

func list(t *testing.T, s gate.Store) []gate.Entry {
	t.Helper()
	l, err := s.List()
	must.OK(t, err)
	return l
}

func expect(t *testing.T, s gate.Store, key string, want gate.State) {
	t.Helper()
	got, err := s.Load(key)
	if err != nil {
		t.Fatalf("load of %q: %v", key, err)
	}
	same(t, got, want)
}

// same fails if two states differ by more than the form of a time.
func same(t *testing.T, got, want gate.State) {
	t.Helper()
	if g, w := text(got), text(want); g != w {
		t.Fatalf("\ngot  %s\nwant %s", g, w)
	}
}

func text(s gate.State) string {
	for _, at := range []*time.Time{&s.Hold.Since, &s.Hold.Until, &s.Ramp.Ends, &s.Breaker.Since, &s.Breaker.Until, &s.Breaker.Probe.Expires, &s.Budget.At} {
		*at = at.UTC()
	}
	s.Ramp.Starts = slices.Clone(s.Ramp.Starts)
	for i := range s.Ramp.Starts {
		s.Ramp.Starts[i].Expires = s.Ramp.Starts[i].Expires.UTC()
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
