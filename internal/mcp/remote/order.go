package remote

import (
	"context"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/mcp"
)

// orderWait is how long a message waits for those that were sent before it.
const orderWait = 10 * time.Second

// order is which message waits for which. Requests overtake each other, as they do at the server; but what was a notification, or
// an answer, or opened the session, has been taken by the server before anything that follows is sent.
type order struct {
	mu       sync.Mutex
	requests map[string]*turn // under way, by id
	barrier  chan struct{}    // closed when the server has taken every notification that was sent before
}

// turn is the place of a message in the order.
type turn struct {
	m       mcp.Outgoing
	cancel  context.CancelFunc // of its exchange
	before  chan struct{}      // closed when what has to be there first has been taken
	taken   chan struct{}      // closed when this has been; nil if nothing waits for it
	written chan struct{}      // closed when the server has begun to get it
	once    sync.Once
}

func newOrder() *order {
	o := &order{requests: map[string]*turn{}, barrier: make(chan struct{})}
	close(o.barrier)
	return o
}

// enter gives a message its turn. cancel gives the message up.
func (o *order) enter(m mcp.Outgoing, cancel context.CancelFunc) *turn {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := &turn{m: m, cancel: cancel, before: o.barrier, written: make(chan struct{})}
	if m.ID != "" {
		o.requests[m.ID] = t
		return t
	}
	t.taken = make(chan struct{})
	o.barrier = t.taken
	return t
}

// leave lets follow what waits for this message, which is over.
func (o *order) leave(t *turn) {
	t.cancel()
	t.isWritten()
	if t.taken != nil {
		close(t.taken)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.requests[t.m.ID] == t {
		delete(o.requests, t.m.ID)
	}
}

// isWritten notes that the server has begun to get the message.
func (t *turn) isWritten() { t.once.Do(func() { close(t.written) }) }

// wait waits until what was sent before has been taken: notifications, and of what a notification cancels, the request.
func (o *order) wait(ctx context.Context, t *turn) {
	timer := time.NewTimer(orderWait)
	defer timer.Stop()
	select {
	case <-t.before:
	case <-timer.C:
	case <-ctx.Done():
	}
	if request := o.request(t.m.Cancels); request != nil {
		select {
		case <-request.written:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}

// giveUp gives up the request that the server has been told to cancel, if the message told it so: its answer goes nowhere.
func (o *order) giveUp(t *turn) {
	if request := o.request(t.m.Cancels); request != nil {
		request.cancel()
	}
}

// request is what is under way under an id; nil if nothing is.
func (o *order) request(id string) *turn {
	if id == "" {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.requests[id]
}

// last is closed when the server has taken every notification that was sent so far.
func (o *order) last() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.barrier
}
