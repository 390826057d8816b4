package page

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// fresh is how long an answer is good while nothing changes: views of "the last 7 days" move with the time.
const fresh = 5 * time.Second

// slots has one for each view that is being made: more at the same time would only take longer.
var slots = make(chan struct{}, 2)

// cache has what pages were answered last, so that many that show the same cost as much as one.
type cache struct {
	mu      sync.Mutex
	version int64
	answers map[string]*cached
}

type cached struct {
	at    time.Time // when it was made; zero before that
	value func() ([]byte, error)
}

// get returns the answer of a key, or makes it.
func (c *cache) get(ctx context.Context, key string, version int64, view func(context.Context) (any, error)) ([]byte, error) {
	c.mu.Lock()
	if c.answers == nil || c.version != version || len(c.answers) > 256 {
		c.answers, c.version = map[string]*cached{}, version
	}
	a := c.answers[key]
	if a == nil || !a.at.IsZero() && time.Since(a.at) >= fresh {
		a = &cached{}
		a.value = sync.OnceValues(func() ([]byte, error) {
			slots <- struct{}{}
			v, err := view(context.WithoutCancel(ctx)) // others may wait for it too
			<-slots
			var data []byte
			if err == nil {
				data, err = json.Marshal(v)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if a.at = time.Now(); err != nil && c.answers[key] == a {
				delete(c.answers, key)
			}
			return data, err
		})
		c.answers[key] = a
	}
	c.mu.Unlock()
	return a.value()
}
