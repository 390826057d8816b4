package page

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// fresh is how long an answer is good while nothing changes: views of "the last 7 days" move with the time.
const fresh = 5 * time.Second

// atOnce is how many views are made at the same time.
const atOnce = 2

// cache has what pages were answered last, so that many that show the same cost as much as one.
type cache struct {
	mu      sync.Mutex
	version int64
	answers map[string]*cached
	slots   chan struct{}
}

type cached struct {
	done chan struct{}
	at   time.Time
	data []byte
	err  error
}

// get returns the answer of a key, or makes it.
func (c *cache) get(ctx context.Context, key string, version int64, make_ func(context.Context) (any, error)) ([]byte, error) {
	c.mu.Lock()
	if c.answers == nil || c.version != version || len(c.answers) > 256 {
		c.answers, c.version = map[string]*cached{}, version
	}
	if c.slots == nil {
		c.slots = make(chan struct{}, atOnce)
	}
	a := c.answers[key]
	if a != nil && (a.at.IsZero() || time.Since(a.at) < fresh) {
		c.mu.Unlock()
		select {
		case <-a.done:
			return a.data, a.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	a = &cached{done: make(chan struct{})}
	c.answers[key] = a
	c.mu.Unlock()

	c.slots <- struct{}{}
	v, err := make_(context.WithoutCancel(ctx)) // others may wait for it too
	<-c.slots
	if err == nil {
		a.data, err = json.Marshal(v)
	}
	c.mu.Lock()
	if a.err, a.at = err, time.Now(); err != nil && c.answers[key] == a {
		delete(c.answers, key)
	}
	c.mu.Unlock()
	close(a.done)
	return a.data, err
}
