package supervise

import (
	"syscall"
	"time"
)

// Stop begins to stop the command: the ladder's signals, then SIGKILL for the whole tree. It does not wait. A second
// Stop goes on from the new ladder, so that an empty one means: kill now. After the end it does nothing.
func (p *Process) Stop(ladder Ladder) {
	p.watch.once.Do(p.startWatch)
	if p.watch.done == nil {
		return // it has ended
	}
	select {
	case p.watch.stops <- ladder:
	case <-p.watch.done:
	}
}

// Kill kills the whole tree now.
func (p *Process) Kill() { p.Stop(Ladder{}) }

// startWatch starts the goroutine that knows the limits and takes requests to stop.
func (p *Process) startWatch() {
	p.watch.stops, p.watch.done = make(chan Ladder), make(chan struct{})
	go func() {
		defer close(p.watch.done)
		p.watch.reason = p.watchOver()
	}()
}

const (
	// tick is how often the watch looks at the clock, so that it notices when time has passed without us.
	tick = time.Second
	// suspendedAfter is the delay that counts as such time. A busy machine has less, or delays the command as well.
	suspendedAfter = time.Second
)

// watchOver waits for the end of the process, or for a limit or a request to stop it, and then stops it.
func (p *Process) watchOver() Reason {
	l := limits{timeout: p.spec.Timeout, stall: p.spec.Stall, linger: p.spec.Linger,
		start: p.start, life: &p.life.Last, delivered: &p.watch.delivered}
	timer := time.NewTimer(tick)
	defer timer.Stop()
	for nextCheck := p.start; ; { // when the next check was due; zero if none was
		now := time.Now()
		if over := now.Sub(nextCheck); !nextCheck.IsZero() && over > suspendedAfter {
			// We have been suspended (Ctrl-Z), or frozen, or the whole machine was. So was the command, or its output
			// was not read.
			l.skip(over)
			p.Beat()
		}
		if p.life.HeldUp() {
			p.Beat() // it is not silent: its output is not being taken
		}
		if stall := p.watch.stall.Load(); stall != 0 && p.spec.Stall > 0 {
			l.stall = time.Duration(stall)
		}
		reason, wait := l.due(now)
		if p.ended() {
			return Exited
		}
		if reason != Exited {
			p.climb(p.spec.Ladder)
			return reason
		}
		if p.spec.Ceilings.Any() {
			excess, next := p.watch.gauge.Look(&p.spec.Ceilings, p.measure, now)
			switch {
			case p.ended():
				return Exited
			case excess != nil:
				p.watch.excess = excess
				p.climb(p.spec.Ladder.inHaste())
				return Exceeded
			case wait == 0 || next < wait:
				wait = next
			}
		}
		var due <-chan time.Time
		if nextCheck = (time.Time{}); wait > 0 {
			wait = min(wait, tick)
			nextCheck = now.Add(wait)
			timer.Reset(wait)
			due = timer.C
		}
		select {
		case <-p.exited:
			return Exited
		case ladder := <-p.watch.stops:
			p.climb(ladder)
			return Stopped
		case <-p.watch.clockChanged:
		case <-due:
		}
	}
}

// climb takes the rungs of the ladder until the command is gone. Another request replaces what is left of it.
func (p *Process) climb(ladder Ladder) {
	p.remember()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if len(ladder) == 0 {
			p.watch.forced = true
			p.signalTree(syscall.SIGKILL)
			timer.Reset(time.Second)
		} else {
			wait := ladder[0].Wait
			if !p.ask(ladder[0].Signal) {
				wait, ladder = 0, ladder[:1] // there is nothing that it could do about it, nor about another signal
			}
			timer.Reset(wait)
		}
		select {
		case <-p.exited:
			return
		case ladder = <-p.watch.stops:
		case <-timer.C:
			if len(ladder) > 0 {
				ladder = ladder[1:]
			}
			if len(ladder) > 0 && p.outgrown() {
				ladder = nil
			}
		}
	}
}

// outgrown reports whether it is being ended for a ceiling and must be killed now.
func (p *Process) outgrown() bool {
	return p.watch.excess != nil && p.watch.gauge.Beyond(&p.spec.Ceilings, p.measure)
}

// measure is how much memory the tree uses now.
func (p *Process) measure(limit int64) (int64, []Proc) { return p.watch.meter.memory(&p.tree, limit) }
