package breaker

import "strconv"

// Attempt is one attempt that a [Breaker] let through, for retry.Through, which makes the attempts of a call through it. It
// is a small [Call], kept by value so that a success allocates nothing.
type Attempt struct {
	generation uint64
	probe      uint64 // the number of a probe, which is its holder; 0 if it is none
}

// Admit lets an attempt through, as the probe of a half-open breaker or not, or says with an [*OpenError] why it does not.
// One of Succeeded, Failed and Released then says how it went, once.
func (b *Breaker) Admit() (a Attempt, probe bool, err error) {
	if w := b.packed.Load(); w&1 == 0 {
		return Attempt{generation: w >> 1}, false, nil
	}
	return b.admit()
}

// admit is Admit where not all is well.
func (b *Breaker) admit() (a Attempt, probe bool, err error) {
	t, err := b.ask()
	a.generation = t.Generation
	if t.Probe {
		a.probe, _ = strconv.ParseUint(t.Holder, 10, 64) // as ask has made it
	}
	return a, t.Probe, err
}

// Succeeded says that the service is well, as [Call.Success].
func (b *Breaker) Succeeded(a Attempt) {
	if b.packed.Load() != a.generation<<1 {
		b.succeeded(a)
	}
}

// succeeded is Succeeded where that changes something. Inlined, it would double what Succeeded costs.
func (b *Breaker) succeeded(a Attempt) { b.success(a.ticket()) }

// Failed says that the service has failed the attempt with err, if [Breaker.Counts] has it so. It is a failure only if the
// whole call has failed, which last says, or if it was the probe. The error is the [*OpenError] of a breaker that is open
// now.
func (b *Breaker) Failed(a Attempt, err error, last bool) error {
	switch {
	case !b.counts(err):
		b.Released(a)
	case last || a.probe != 0:
		b.failure(a.ticket(), err)
	}
	if e := b.refusal.Load(); e != nil && e.Phase == Open {
		return e
	}
	return nil
}

// Released says that the attempt has told nothing of the service, as [Call.Release].
func (b *Breaker) Released(a Attempt) {
	if a.probe != 0 {
		b.release(a.ticket())
	}
}

func (a Attempt) ticket() Ticket {
	t := Ticket{Generation: a.generation}
	if a.probe != 0 {
		t.Holder, t.Probe = strconv.FormatUint(a.probe, 10), true
	}
	return t
}
