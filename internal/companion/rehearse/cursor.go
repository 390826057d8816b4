package rehearse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// cursor walks through a script: each main request takes the next step, whichever process sends it.
type cursor struct {
	mu     sync.Mutex
	script *Script
	index  int // the step that answers next
	used   int // how many it has answered

	window time.Time // Rate: when the window began
	inside int       // and how many it has let through
	random *rand.Rand
}

// next returns the step for a request that comes now, and what to call it in the report.
func (c *cursor) next(now time.Time) (Step, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index >= len(c.script.Steps) {
		return Step{Usage: Usage{-1, -1, -1, -1}}, "200 (after the script)"
	}
	step := c.script.Steps[c.index]
	switch {
	case step.Rate != nil:
		return c.throttle(step, now)
	case step.Mix != nil:
		return c.mix(step)
	case step.Before == Refuse:
		return step, step.Source // over when its time is, see skip
	}
	c.used++
	if step.Times > 0 && c.used >= step.Times {
		c.index, c.used = c.index+1, 0
	}
	return step, step.Source
}

// refusing returns the step if it is one that refuses connections.
func (c *cursor) refusing() (Step, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index >= len(c.script.Steps) || c.script.Steps[c.index].Before != Refuse {
		return Step{}, false
	}
	return c.script.Steps[c.index], true
}

// skip goes on after a step that no request answers to.
func (c *cursor) skip() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.index, c.used = c.index+1, 0
}

// throttle counts requests in windows that follow each other from the first request on.
func (c *cursor) throttle(step Step, now time.Time) (Step, string) {
	rate := step.Rate
	if c.window.IsZero() {
		c.window = now
	}
	if over := now.Sub(c.window); over >= rate.Window {
		c.window = c.window.Add(over.Truncate(rate.Window))
		c.inside = 0
	}
	step.Rate = nil
	if c.inside < rate.Requests {
		c.inside++
		return step, fmt.Sprintf("200 (%d of %d)", c.inside, rate.Requests)
	}
	left := c.window.Add(rate.Window).Sub(now)
	refusal := Step{Status: http.StatusTooManyRequests, Usage: step.Usage}
	switch rate.RetryAfter {
	case "seconds":
		refusal.RetryAfter.Seconds = strconv.Itoa(int(math.Ceil(left.Seconds())))
	case "date":
		// A date has whole seconds: the next one is after the window's end.
		refusal.RetryAfter = RetryAfter{Date: true, In: left + time.Second}
	}
	return refusal, fmt.Sprintf("429 (over %d in %v)", rate.Requests, rate.Window)
}

// mix picks a fault at random, or none. The seed fixes the sequence, not which client gets which part of it.
func (c *cursor) mix(step Step) (Step, string) {
	m := step.Mix
	if c.random == nil {
		c.random = rand.New(rand.NewPCG(m.Seed, 0))
	}
	if c.random.Float64() >= m.Share {
		return Step{Usage: step.Usage}, "200"
	}
	fault := m.Faults[c.random.IntN(len(m.Faults))]
	return fault, fault.Source
}

// rest names the steps that have not answered as often as they could.
func (c *cursor) rest() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	if c.script.PerSession {
		return nil // each session has a cursor of its own
	}
	for i, step := range c.script.Steps[min(c.index, len(c.script.Steps)):] {
		used := 0
		if i == 0 {
			used = c.used
		}
		switch left := step.Times - used; {
		case step.Times > 1 && left > 1:
			list = append(list, fmt.Sprintf("%sx%d", step.Source, left))
		case step.Times > 0 || used == 0 && repeatable(&step):
			list = append(list, step.Source)
		}
	}
	return list
}
