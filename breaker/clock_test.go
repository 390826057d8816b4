package breaker_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
)

// The rule of Settings.passed. A time farther away than the longest open time (12.5 min) or lease, and a lease on top,
// was set by a clock that has jumped since, and counts as over. What is nearer is waited for.
func TestClock_TimesThatCannotBeAreOver(t *testing.T) {
	until := func(d time.Duration) breaker.State {
		return with(opened, func(s *breaker.State) { s.Until = at(d) })
	}
	expires := func(d time.Duration) breaker.State {
		return with(probing, func(s *breaker.State) { s.Probe.Expires = at(d) })
	}
	for name, tt := range map[string]struct {
		state   breaker.State
		refused bool
	}{
		"OpenedByAClockAnHourAhead":   {until(time.Hour + time.Minute), false},
		"OpenedByAClockAnHourBehind":  {until(-time.Hour + time.Minute), false},
		"OpenedByAClockADecadeAhead":  {until(10 * 365 * 24 * time.Hour), false},
		"OpenForAsLongAsCanBe":        {until(12*time.Minute + 30*time.Second), true},
		"OpenForALittleMore":          {until(13 * time.Minute), true},
		"OpenForTooLong":              {until(13*time.Minute + 1), false},
		"LeasedByAClockAnHourAhead":   {expires(time.Hour + 30*time.Second), false},
		"LeasedByAClockAnHourBehind":  {expires(-time.Hour + 30*time.Second), false},
		"LeasedByAClockASecondAhead":  {expires(31 * time.Second), true},
		"LeasedForAsLongAsCanBe":      {expires(time.Minute), true},
		"LeasedForTooLong":            {expires(time.Minute + 1), false},
		"ForcedByHandForAsLongAsSaid": {with(forced, func(s *breaker.State) { s.Until = at(1000 * time.Hour) }), true},
	} {
		t.Run(name, func(t *testing.T) {
			_, got, err := tt.state.Ask(breaker.Settings{}, t0, "b")
			equal(t, "refused", err != nil, tt.refused)
			equal(t, "probe", got.Probe, !tt.refused)
		})
	}
}

// Two processes on one file, one of them an hour ahead: both go on probing, and a service that is well is found so.
func TestClock_TwoThatDisagreeByAnHour(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"Ahead": time.Hour, "Behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			var set breaker.Settings
			s := four.Failure(set, at(ahead), ticket(0), 0, "down")
			s, mine, err := s.Ask(set, t0, "mine")
			equal(t, "error", err, nil)
			s = s.Success(set, t0, mine)
			s, theirs, err := s.Ask(set, at(ahead), "theirs")
			equal(t, "error", err, nil)
			s = s.Success(set, at(ahead), theirs)
			equal(t, "phase", s.Phase, breaker.Closed)
		})
	}
}

// Whatever a clock did to the times, a call that is refused is let through 12.5 min and a lease later.
func TestClock_NobodyWaitsForEver(t *testing.T) {
	const most = 12*time.Minute + 30*time.Second + 30*time.Second
	for d := -2 * time.Hour; d < 2*time.Hour; d += 7 * time.Second {
		for _, s := range []breaker.State{
			with(opened, func(s *breaker.State) { s.Until = at(d) }),
			with(probing, func(s *breaker.State) { s.Probe.Expires = at(d) }),
		} {
			if s.Refusal(breaker.Settings{}, t0) == nil {
				continue
			}
			if err := s.Refusal(breaker.Settings{}, at(most)); err != nil {
				t.Fatalf("until %v: still refused: %v", d, err)
			}
		}
	}
}
