package retry

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// None as MaxRetries means no retry at all, as MaxWait no bound.
const None = -1

// Policy says how often, how long and how to wait. The zero value works: three retries, after up to 1, 2 and 4 s.
//
// A Policy is a plain value that may be copied and shared; its functions must then be safe for concurrent use.
type Policy struct {
	// MaxRetries is the number of retries after the first attempt, timed-out attempts included. 0 means 3, None
	// means that nothing is repeated and nothing waited for, throttles included.
	MaxRetries int

	// BaseDelay is the wait before the first retry, of which Jitter takes a part: with Full any, so that it may be next to nothing. 0 means 1 s.
	BaseDelay time.Duration

	// MaxDelay caps the backoff, before jitter. A hint is not capped: MaxWait is what bounds it. 0 means 60 s.
	MaxDelay time.Duration

	// Factor is what each delay is multiplied by to get the next. 0 means 2, 1 keeps the delay constant.
	Factor float64

	// Jitter spreads the delays. The zero value is Full.
	Jitter Jitter

	// MaxWait bounds the sum of all waits, hints included. 0 means 5 min, and at most 20 attempts, see MaxAttempts; None
	// means no bound.
	MaxWait time.Duration

	// NoBreakerWait makes a caller that would wait for an open circuit breaker, as a belay.Runner does at its gate, fail at once
	// instead if it has not begun. [Through] never waits for one.
	NoBreakerWait bool

	// Timeout is a hard deadline of each attempt. 0 means none.
	Timeout time.Duration

	// TotalTimeout bounds the whole call, attempts and waits. 0 means none.
	TotalTimeout time.Duration

	// RetryTimeouts is how many attempts that ran into Timeout are repeated, within MaxRetries. 0 means none: what
	// took too long once will most likely take too long again.
	RetryTimeouts int

	// CountThrottles makes retries of throttled attempts count against MaxRetries, as a user who gave a number
	// expects. Without it MaxWait bounds them: a limit goes away by itself, and a client that gives up after
	// three tries against a window of minutes has only wasted the first two.
	CountThrottles bool

	// Delay replaces backoff and jitter. retry is the number of the retry, from 0, and err what the attempt said.
	// A hint stays a floor, and MaxDelay is not applied.
	Delay func(retry int, err error) time.Duration

	// Classify says what an error means. Nil means Network.
	Classify func(error) Advice

	// OnRetry is called before each wait, from the goroutine of the call.
	OnRetry func(Retry)

	// OnGiveUp is called once for each call that ends without success, with the [*Error] that it returns and from its
	// goroutine. It is where to put the failure on record.
	OnGiveUp func(error)

	// Rand is the source of jitter and returns numbers in [0,1). Nil means math/rand/v2.
	Rand func() float64
}

// Retry is what OnRetry is told.
type Retry struct {
	Attempt int           // the attempt that failed, from 1
	Err     error         // what it said
	Advice  Advice        // what Classify made of it
	Wait    time.Duration // how long the wait will be
	Until   time.Time     // when the next attempt starts
}

// Validate reports the first value of p that makes no sense, in words that can be shown to the user.
func (p Policy) Validate() error {
	switch {
	case p.MaxRetries < None:
		return fmt.Errorf("max retries %d is negative", p.MaxRetries)
	case p.BaseDelay < 0:
		return fmt.Errorf("base delay %v is negative", p.BaseDelay)
	case p.MaxDelay < 0:
		return fmt.Errorf("max delay %v is negative", p.MaxDelay)
	case p.Factor != 0 && !validFactor(p.Factor):
		return fmt.Errorf("factor %v is not a number of at least 1", p.Factor)
	case p.Timeout < 0:
		return fmt.Errorf("timeout %v is negative", p.Timeout)
	case p.TotalTimeout < 0:
		return fmt.Errorf("total timeout %v is negative", p.TotalTimeout)
	case p.RetryTimeouts < 0:
		return fmt.Errorf("number of timeouts to retry %d is negative", p.RetryTimeouts)
	}
	if err := p.Jitter.validate(); err != nil {
		return fmt.Errorf("jitter %q: %w", p.Jitter, err)
	}
	return nil
}

// What a policy means that does not say so itself.
const (
	defaultMaxWait     = 5 * time.Minute
	defaultMaxAttempts = 20
	defaultFactor      = 2
)

// MaxAttempts returns how many attempts there are at most, or 0 if only MaxWait bounds them. Where throttles do not count
// and MaxWait is not set, there are 20: the waits between them may be so short that 5 min hold a
// thousand attempts. A larger MaxRetries still applies.
func (p Policy) MaxAttempts() int {
	switch n := p.maxRetries() + 1; {
	case p.CountThrottles, p.MaxRetries < 0:
		return n
	case p.MaxWait == 0:
		return max(n, defaultMaxAttempts)
	}
	return 0
}

func validFactor(f float64) bool { return f >= 1 && !math.IsInf(f, 1) }

func (p *Policy) maxRetries() int {
	switch {
	case p.MaxRetries == 0:
		return 3
	case p.MaxRetries < 0:
		return 0
	}
	return p.MaxRetries
}

func (p *Policy) maxWait() time.Duration {
	switch {
	case p.MaxWait == 0:
		return defaultMaxWait
	case p.MaxWait < 0:
		return math.MaxInt64
	}
	return p.MaxWait
}

// gaveUp tells OnGiveUp how a call has ended, and returns that.
func (p *Policy) gaveUp(err error) error {
	if p.OnGiveUp != nil {
		p.OnGiveUp(err)
	}
	return err
}

func (p *Policy) classify(err error) Advice {
	if p.Classify == nil {
		return Network(err)
	}
	return p.Classify(err)
}

func (p *Policy) rand() float64 {
	if p.Rand == nil {
		return rand.Float64()
	}
	return p.Rand()
}
