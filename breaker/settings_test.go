package breaker_test

import (
	"math"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
)

func TestSettings_OpenTimeDoublesToTheCap(t *testing.T) {
	for opens, want := range []time.Duration{1, 2, 4, 8, 10, 10, 10} {
		equal(t, "open time", breaker.Settings{}.OpenTime(opens, 0), want*time.Minute)
	}
}

func TestSettings_OpenTimeIsSpreadUpwardByAQuarter(t *testing.T) {
	for _, tt := range []struct {
		jitter float64
		want   time.Duration
	}{
		{0, 60 * time.Second},
		{0.5, 67500 * time.Millisecond},
		{math.Nextafter(1, 0), 75*time.Second - 1},
		{1, 75 * time.Second},
		{7, 75 * time.Second},
		{-1, 60 * time.Second},
		{math.NaN(), 60 * time.Second},
		{math.Inf(1), 75 * time.Second},
		{math.Inf(-1), 60 * time.Second},
	} {
		got := breaker.Settings{}.OpenTime(0, tt.jitter)
		if d := got - tt.want; d < -1 || d > 1 {
			t.Errorf("jitter %v: got %v, want %v", tt.jitter, got, tt.want)
		}
	}
	// The spread comes after the cap: without it, all clients that have reached the cap would come back together.
	equal(t, "at the cap", breaker.Settings{}.OpenTime(10, 1), 12*time.Minute+30*time.Second)
}

func TestSettings_OpenTimeSaturates(t *testing.T) {
	long := breaker.Settings{Open: 1, MaxOpen: math.MaxInt64}
	for _, opens := range []int{63, 64, 1000, math.MaxInt} {
		equal(t, "open time", breaker.Settings{}.OpenTime(opens, 0), 10*time.Minute)
		equal(t, "open time", long.OpenTime(opens, 1), math.MaxInt64)
	}
	equal(t, "open time", long.OpenTime(62, 0), 1<<62)
	equal(t, "open time", breaker.Settings{}.OpenTime(math.MinInt, 0), time.Minute)
}

// The number itself must not turn over either, after however many openings.
func TestMachine_OpensSaturates(t *testing.T) {
	s := with(probing, func(s *breaker.State) { s.Opens = math.MaxInt })
	s = s.Failure(breaker.Settings{}, t0, probe(2, "a"), 0, "again")
	equal(t, "opens", s.Opens, math.MaxInt)
	equal(t, "open for", s.Until.Sub(s.Since), 10*time.Minute)

	s = with(probing, func(s *breaker.State) { s.Opens = math.MinInt })
	s = s.Failure(breaker.Settings{}, t0, probe(2, "a"), 0, "again")
	equal(t, "opens", s.Opens, 1)
	equal(t, "open for", s.Until.Sub(s.Since), time.Minute)
}

// However long it may be open, the time does not turn over into the past.
func TestMachine_LongestTimesSaturate(t *testing.T) {
	long := breaker.Settings{Failures: 1, Open: math.MaxInt64, Lease: math.MaxInt64}
	s := healthy.Failure(long, t0, ticket(0), 1, "down")
	equal(t, "phase", s.At(long, at(1e6*time.Hour)), breaker.Open)
	s, _, err := s.Ask(long, s.Until, "a")
	equal(t, "error", err, nil)
	equal(t, "refused", s.Refusal(long, s.Since.Add(1e6*time.Hour)) != nil, true)
}

func TestSettings_Threshold(t *testing.T) {
	set := breaker.Settings{Failures: 10, Successes: 3}
	s := healthy
	for n := range 10 {
		equal(t, "failures", s.Failures, n)
		s = s.Failure(set, t0, ticket(0), 0, "down")
	}
	equal(t, "phase", s.Phase, breaker.Open)
	for n := range 3 {
		next, got, err := s.Ask(set, s.Until.Add(time.Duration(n)), "a")
		equal(t, "error", err, nil)
		s = next.Success(set, t0, got)
	}
	equal(t, "phase", s.Phase, breaker.Closed)
}

// Where only Open is set, the default of another field must not cut it down.
func TestSettings_MaxOpenIsNeverLessThanOpen(t *testing.T) {
	equal(t, "open time", breaker.Settings{Open: time.Hour}.OpenTime(3, 0), time.Hour)
	equal(t, "open time", breaker.Settings{Open: time.Hour, MaxOpen: time.Minute}.OpenTime(0, 0), time.Hour)
}

func TestSettings_Validate(t *testing.T) {
	for want, s := range map[string]breaker.Settings{
		"":                                   {},
		"number of failures -1 is negative":  {Failures: -1},
		"open time -1s is negative":          {Open: -time.Second},
		"max open time -1m0s is negative":    {MaxOpen: -time.Minute},
		"number of successes -2 is negative": {Successes: -2},
		"lease -1ns is negative":             {Lease: -1},
	} {
		var got string
		if err := s.Validate(); err != nil {
			got = err.Error()
		}
		equal(t, "error", got, want)
	}
	equal(t, "what it would refuse counts as not set", breaker.Settings{Open: -1, MaxOpen: -1}.OpenTime(9, 0), 10*time.Minute)
}
