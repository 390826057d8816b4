package retry

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Jitter is a way to spread delays, so that clients that failed together do not come back together. The zero value
// is [Full]. Values can be compared with ==.
type Jitter struct {
	kind jitterKind
	// amount is a fraction of the delay or, for plus, nanoseconds. One field for both keeps Policy, which Do takes
	// by value, at 120 bytes; at 128 the copy took twice as long.
	amount float64
}

type jitterKind uint8

const (
	full jitterKind = iota
	none
	proportional
	additive
	plus
)

var (
	// Full is anything from 0 to the delay. Of the kinds in AWS's simulator it needs the fewest calls, or ties,
	// until all clients are served, and here a call costs money.
	Full = Jitter{kind: full}

	// NoJitter keeps the delays as they are, hints included.
	NoJitter = Jitter{kind: none}
)

// Proportional is the delay ± up to fraction of it, a number from 0 to 1.
func Proportional(fraction float64) Jitter { return Jitter{proportional, fraction} }

// Additive is the delay plus up to fraction of it.
func Additive(fraction float64) Jitter { return Jitter{additive, fraction} }

// Plus is the delay plus up to d.
func Plus(d time.Duration) Jitter { return Jitter{plus, float64(d)} }

// Apply returns d with jitter, where r in [0,1) is the random number that picks the place in the range. The result
// is never negative, and saturates.
func (j Jitter) Apply(d time.Duration, r float64) time.Duration {
	if !(r > 0) { // unlike r <= 0 this catches NaN
		r = 0
	}
	r = min(r, 1)
	if j.validate() != nil {
		j = Full
	}
	x := float64(max(d, 0))
	switch j.kind {
	case none:
		return max(d, 0)
	case proportional:
		return saturate(x + x*j.amount*(2*r-1))
	case additive:
		return saturate(x + x*(j.amount*r))
	case plus:
		return saturate(x + j.amount*r)
	default:
		return saturate(x * r)
	}
}

// String returns what [ParseJitter] reads.
func (j Jitter) String() string {
	switch j.kind {
	case none:
		return "none"
	case proportional:
		return "proportional:" + strconv.FormatFloat(j.amount, 'g', -1, 64)
	case additive:
		return "additive:" + strconv.FormatFloat(j.amount, 'g', -1, 64)
	case plus:
		return "plus:" + saturate(j.amount).String()
	default:
		return "full"
	}
}

// ParseJitter reads "full", "none", "proportional:0.2", "additive:0.25" or "plus:1s". Plus also takes a plain
// number of seconds.
func ParseJitter(s string) (Jitter, error) {
	kind, value, valued := strings.Cut(s, ":")
	var j Jitter
	var example string
	var err error
	switch kind {
	case "full":
		j = Full
	case "none":
		j = NoJitter
	case "proportional":
		example = "proportional:0.2"
		j.kind = proportional
		j.amount, err = strconv.ParseFloat(value, 64)
	case "additive":
		example = "additive:0.25"
		j.kind = additive
		j.amount, err = strconv.ParseFloat(value, 64)
	case "plus":
		example = "plus:1s"
		j.kind = plus
		j.amount, err = parseSpan(value)
	default:
		return Jitter{}, fmt.Errorf("jitter %q: want full, none, proportional:0.2, additive:0.25 or plus:1s", s)
	}
	switch {
	case valued && example == "":
		return Jitter{}, fmt.Errorf("jitter %q: %s takes no value", s, kind)
	case err != nil:
		return Jitter{}, fmt.Errorf("jitter %q: want a value, as in %s", s, example)
	}
	if err := j.validate(); err != nil {
		return Jitter{}, fmt.Errorf("jitter %q: %w", s, err)
	}
	return j, nil
}

// parseSpan reads a duration or a plain number of seconds, as nanoseconds.
func parseSpan(s string) (float64, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return float64(d), nil
	}
	seconds, err := strconv.ParseFloat(s, 64)
	return math.Round(seconds * float64(time.Second)), err
}

func (j Jitter) validate() error {
	switch {
	case j.kind == proportional && !(j.amount >= 0 && j.amount <= 1):
		return errors.New("the fraction is not between 0 and 1")
	case j.kind == additive && !(j.amount >= 0 && j.amount <= math.MaxFloat64):
		return errors.New("the fraction is not a number of at least 0")
	case j.kind == plus && !(j.amount >= 0 && j.amount <= math.MaxInt64):
		return errors.New("not a duration of at least 0")
	}
	return nil
}
