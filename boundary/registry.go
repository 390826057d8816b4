package boundary

import (
	"context"
	"slices"
	"sync"
)

// Registry calls the handlers that are registered for an event, one after the other in the order in which they were
// registered. Each has a boundary of its own: a bad one never stops those after it. The zero value works, and its
// methods may be called from anywhere, handlers included.
type Registry[R any] struct {
	// Settings hold for all handlers. They must not change once handlers are registered.
	Settings Settings

	mu       sync.Mutex
	handlers map[string][]*registered[R]
}

type registered[R any] struct {
	name string
	call func(context.Context, Event) (R, *Failure)
}

// Outcome is what became of one handler.
type Outcome[R any] struct {
	Name   string
	Result R
	// Failure is nil if the handler has returned its result.
	Failure *Failure
}

// On registers a handler for the events of that name. What it returns takes it away again; events under way still reach
// it.
func (r *Registry[R]) On(event, name string, fn Handler[R]) (remove func()) {
	h := &registered[R]{name, Hook(name, fn, r.Settings)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.handlers == nil {
		r.handlers = map[string][]*registered[R]{}
	}
	r.handlers[event] = append(r.handlers[event], h)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.handlers[event] = slices.DeleteFunc(slices.Clone(r.handlers[event]), func(o *registered[R]) bool { return o == h })
	}
}

// Fire calls the handlers of the event and returns what became of each, in their order.
func (r *Registry[R]) Fire(ctx context.Context, e Event) []Outcome[R] {
	r.mu.Lock()
	handlers := slices.Clone(r.handlers[e.Name])
	r.mu.Unlock()
	outcomes := make([]Outcome[R], len(handlers))
	for i, h := range handlers {
		outcomes[i].Name = h.name
		outcomes[i].Result, outcomes[i].Failure = h.call(ctx, e)
	}
	return outcomes
}

// Results are the results of the handlers that have returned one, in order.
func Results[R any](outcomes []Outcome[R]) []R {
	var good []R
	for _, o := range outcomes {
		if o.Failure == nil {
			good = append(good, o.Result)
		}
	}
	return good
}
