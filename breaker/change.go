package breaker

type change struct{ from, to State }

// become makes next the state. It is called with the lock and gives it up, so that the listener runs without it.
// gobreaker calls its listener under the lock, and one that asks for the state waits for ever (its #37).
func (b *Breaker) become(next State) {
	if next == b.state {
		b.mu.Unlock()
		return
	}
	if b.OnChange != nil {
		b.changes = append(b.changes, change{b.state, next})
	}
	b.state = next
	if next.Healthy() {
		b.cause = nil
	}
	b.packed.Store(next.pack())
	b.refusal.Store(b.withNameAndCause(next.refusal()))
	b.notify()
}

// withNameAndCause adds to a refusal what only the Breaker knows.
func (b *Breaker) withNameAndCause(e *OpenError) *OpenError {
	if e != nil {
		e.Name, e.Cause = b.Name, b.cause
	}
	return e
}

// notify is called with the lock, gives it up, and calls the listener until it knows all changes. If a notify is
// running already, even further up in this very goroutine, it delivers the change: that keeps the order.
func (b *Breaker) notify() {
	if b.notifying || len(b.changes) == 0 {
		b.mu.Unlock()
		return
	}
	b.notifying = true
	defer func() { // also if the listener panics: what is left goes with the next change
		b.notifying = false
		b.mu.Unlock()
	}()
	for len(b.changes) > 0 {
		c := b.changes[0]
		b.changes = b.changes[1:]
		b.callListener(c)
	}
	b.changes = nil
}

func (b *Breaker) callListener(c change) {
	b.mu.Unlock()
	defer b.mu.Lock()
	b.OnChange(c.from, c.to)
}

// pack returns what a healthy call needs of s: see Breaker.packed.
func (s State) pack() uint64 {
	w := s.Generation << 1
	if !s.Healthy() {
		w |= 1
	}
	return w
}
