package gate

import "time"

// Budget bounds retries that are not throttles, over all processes: without it one call a process makes any retry
// count multiply. A bucket of ten; a retry takes one, a success gives a tenth back, a minute gives one.
type Budget struct {
	// Spent is what was missing from a full bucket at At.
	Spent float64   `json:"spent,omitempty"`
	At    time.Time `json:"at,omitzero"`
}

const (
	bucket    = 10
	perRetry  = 1
	perCall   = 0.1
	perMinute = 1

	// epsilon is less than anything that is given or taken: ten tenths are one, though not in floating point.
	epsilon = 1e-9
)

// spent is what is missing at now. A clock that was set back gives nothing.
func (b Budget) spent(now time.Time) float64 {
	minutes := max(0, now.Sub(b.At).Minutes())
	if spent := min(b.Spent, bucket) - minutes*perMinute; spent > epsilon {
		return spent
	}
	return 0
}

// left is what is left at now.
func (b Budget) left(now time.Time) float64 { return bucket - b.spent(now) }

func (b Budget) full(now time.Time) bool { return b.spent(now) == 0 }

// take spends a retry, and reports whether there was one.
func (b Budget) take(now time.Time) (Budget, bool) {
	spent := b.spent(now)
	if bucket-spent < perRetry-epsilon {
		if now.Before(b.At) {
			b = Budget{Spent: spent, At: now} // from here on minutes count again, though the clock was set back
		}
		return b, false
	}
	return Budget{Spent: min(spent+perRetry, bucket), At: now}, true
}

// earn gives a success's share back.
func (b Budget) earn(now time.Time) Budget {
	if spent := b.spent(now) - perCall; spent > epsilon {
		return Budget{Spent: spent, At: now}
	}
	return Budget{}
}

// next is when a retry will be there again.
func (b Budget) next(now time.Time) time.Time {
	missing := perRetry - b.left(now)
	if missing <= epsilon {
		return now
	}
	return now.Add(time.Duration(missing / perMinute * float64(time.Minute)))
}
