package jobs

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/fleet/store"
)

// fence names a job as one machine works on it.
type fence struct {
	job     int64
	attempt int
}

// batcher makes statements about the jobs of one machine, one after the other: each for everything that has come while the one before was made.
// So two of them never wait for each other's rows. While PostgreSQL is away they wait, and are made when it is back. A machine has two: one takes jobs
// and renews leases, the other reports.
type batcher struct {
	store   *store.Store
	machine string
	// away is told when PostgreSQL cannot be reached, and with nil when it can again.
	away func(error)

	mu      sync.Mutex
	claims  []request[claimRequest, claim]
	reports []request[report, bool]
	wake    chan struct{}
}

// request is a question for PostgreSQL, and where the answer goes.
type request[Q, A any] struct {
	question Q
	answer   chan A
}

func newBatcher(s *store.Store, machine string, away func(error)) *batcher {
	return &batcher{store: s, machine: machine, away: away, wake: make(chan struct{}, 1)}
}

func (c *batcher) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run makes statements until ctx ends, and calls renew at the start and at each tick.
func (c *batcher) run(ctx context.Context, tick <-chan time.Time, renew func(context.Context) error) {
	failures := 0
	for due := true; ; {
		c.mu.Lock()
		claims, reports := c.claims, c.reports
		c.claims, c.reports = nil, nil
		c.mu.Unlock()
		err := c.make(ctx, &claims, &reports)
		if err == nil && due {
			if err = renew(ctx); err == nil {
				due = false
			}
		}
		if err != nil {
			c.mu.Lock() // what was not made comes first
			c.claims, c.reports = append(claims, c.claims...), append(reports, c.reports...)
			c.mu.Unlock()
			if ctx.Err() != nil {
				return
			}
			if failures++; failures > 1 {
				c.away(err)
			}
			if !pause(ctx, failures) {
				return
			}
			continue
		}
		if failures > 0 {
			failures = 0
			c.away(nil)
		}
		c.mu.Lock()
		c.reports = append(reports, c.reports...)
		idle := len(c.claims)+len(c.reports) == 0
		c.mu.Unlock()
		if !idle {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		case <-tick:
			due = true
		}
	}
}

// make makes the statements for what has come. What is made is taken off the lists. Of large texts one part is sent at a time, so that other reports do not wait for all of it.
func (c *batcher) make(ctx context.Context, claims *[]request[claimRequest, claim], reports *[]request[report, bool]) error {
	large := slices.DeleteFunc(slices.Clone(*reports), func(w request[report, bool]) bool { return !w.question.hasParts() })
	*reports = slices.DeleteFunc(*reports, func(w request[report, bool]) bool { return w.question.hasParts() })
	defer func() { *reports = append(*reports, large...) }()
	for len(*reports) > 0 {
		some := (*reports)[:together(*reports)]
		accepted, err := c.makeReports(ctx, some)
		if err != nil {
			return err
		}
		for i, w := range some {
			w.answer <- accepted[i]
		}
		*reports = (*reports)[len(some):]
	}
	if len(*claims) > 0 {
		got, err := c.makeClaims(ctx, *claims)
		if err != nil {
			return err
		}
		for i, w := range *claims {
			w.answer <- got[i]
		}
		*claims = nil
	}
	if len(large) > 0 {
		return c.sendPart(ctx, &large[0].question)
	}
	return nil
}
