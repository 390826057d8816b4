package agent

import (
	"math"
	"strconv"
	"time"

	"github.com/belay-run/belay/verdict"
)

// OwnRetries is what a user tells a CLI, by settings of its own, about its retries and waits. The user has asked for what the CLI then does, so
// it is not ended for it unless the caller of Belay says otherwise. The zero value means that nothing was set.
type OwnRetries struct {
	// Set says that the CLI was told how often, or for how long, it is to try again by itself.
	Set bool
	// MaxWait is how long it was told to wait for limits in all: negative for as long as it takes, 0 if it was not told. Setting is what
	// says so.
	MaxWait time.Duration
	Setting string
}

// Milliseconds reads the value of a setting that is a number of milliseconds; 0 if it is not one, or not positive.
func Milliseconds(text string) time.Duration { return inUnits(text, time.Millisecond) }

// Seconds is the same for a number of seconds, which may have a fraction.
func Seconds(text string) time.Duration { return inUnits(text, time.Second) }

func inUnits(text string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0) {
		return 0
	}
	if n *= float64(unit); n < math.MaxInt64 {
		return time.Duration(n)
	}
	return math.MaxInt64
}

// stallMargin is how much longer than a time limit of the CLI's own silence may last: it has to notice, and to say so.
const stallMargin = 30 * time.Second

// StallBeyond is how long a CLI may show no life that usually may do so for that long, and was told to wait for something for as long as own
// says. A negative own means that it was told to wait without a limit, and so does the answer 0.
func StallBeyond(usual time.Duration, own ...time.Duration) time.Duration {
	for _, d := range own {
		if d < 0 {
			return 0
		}
		if d > 0 && d >= usual-stallMargin {
			usual = min(d, math.MaxInt64-stallMargin) + stallMargin
		}
	}
	return usual
}

// Guarded returns the profile of a command of c that is treated as any other, because it wants a person or is not c's own:
// p says what its outcome means, and c whether it may have changed something.
func Guarded(p Profile, c Caller) Caller { return guarded{Caller: c, judge: p} }

type guarded struct {
	Caller
	judge Profile
}

func (g guarded) Name() string   { return g.judge.Name() }
func (g guarded) Headless() bool { return g.judge.Headless() }
func (g guarded) Reads() bool    { return g.judge.Reads() }

func (g guarded) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	v := g.judge.Judge(o, now)
	v.Sent = g.Caller.Judge(o, now).Sent
	return v
}
