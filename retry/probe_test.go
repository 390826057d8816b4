package retry_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/retry"
)

// Probes 4 to 7 of the field report are the edges where the libraries of the field break a Retry-After. The tests
// here carry their numbers.

// Probe 4: failsafe-go retried at 5s and 5s.
func TestProbe4_HintBeyondTotalTimeoutEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := always(errLimit)
		_, err := retry.Do(t.Context(), retry.Policy{TotalTimeout: 5 * time.Second, Classify: after(time.Minute)}, s.fn)
		e := stopped(t, err, retry.ErrTotalTimeout)
		equalAll(t, "attempts at", s.at, seconds(0))
		equal(t, "ended after", time.Since(s.start), 0)
		equal(t, "not before", e.NotBefore.Sub(s.start), time.Minute)
	})
}

// Probe 5: the earliest of 200 retries of failsafe-go came at 45.2s.
func TestProbe5_JitterNeverShortensAHint(t *testing.T) {
	for _, j := range []retry.Jitter{retry.Full, retry.NoJitter, retry.Proportional(0.25), retry.Additive(0.25), retry.Plus(time.Second)} {
		t.Run(j.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				different := map[time.Duration]bool{}
				for range 200 {
					s := play(errLimit)
					if _, err := retry.Do(t.Context(), retry.Policy{Jitter: j, Classify: after(time.Minute)}, s.fn); err != nil {
						t.Fatal(err)
					}
					gap := s.gaps()[0]
					if gap < time.Minute || gap > 66*time.Second {
						t.Fatalf("retried after %v, want 60s to 66s", gap)
					}
					different[gap] = true
				}
				if j == retry.NoJitter {
					equal(t, "different waits", len(different), 1)
				} else if len(different) < 190 {
					t.Errorf("%d different waits of 200", len(different))
				}
			})
		})
	}
}

// Probe 6: failsafe-go made three attempts at 0s, because it does not read dates.
func TestProbe6_HintAsHTTPDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"
		header := time.Now().Add(90 * time.Second).UTC().Format(httpDate)
		classify := func(error) retry.Advice {
			at, err := time.Parse(httpDate, header)
			if err != nil {
				t.Error(err)
			}
			return retry.Advice{Retry: true, NotBefore: at}
		}
		s := play(errLimit)
		if _, err := retry.Do(t.Context(), retry.Policy{Classify: classify, Rand: constant(0)}, s.fn); err != nil {
			t.Fatal(err)
		}
		equalAll(t, "attempts at", s.at, seconds(0, 90))
	})
}

// Probe 7: failsafe-go and retryablehttp sleep for the day, failsafe-go twice.
func TestProbe7_HintOfADayEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := always(errLimit)
		_, err := retry.Do(t.Context(), retry.Policy{Classify: after(86400 * time.Second)}, s.fn)
		e := stopped(t, err, retry.ErrMaxWait)
		equalAll(t, "attempts at", s.at, seconds(0))
		equal(t, "ended after", time.Since(s.start), 0)
		equal(t, "not before", e.NotBefore.Sub(s.start), 24*time.Hour)
	})
}
