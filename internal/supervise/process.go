package supervise

import (
	"syscall"
	"time"
)

// Stop begins to stop the command: the ladder's signals, then SIGKILL for the whole tree. It does not wait. A second
// Stop goes on from the new ladder, so that an empty one means: kill now. After the end it does nothing.
func (p *Process) Stop(ladder Ladder) {
	p.watchOnce.Do(p.startWatch)
	if p.watched == nil {
		return // it has ended
	}
	select {
	case p.stops <- ladder:
	case <-p.watched:
	}
}

// Kill kills the whole tree now.
func (p *Process) Kill() { p.Stop(Ladder{}) }

// Signal sends one signal to the command, and to no other process: it is for the command to tell its children.
func (p *Process) Signal(sig syscall.Signal) { p.signalRoot(sig) }

// EndTree ends what a command that has exited by itself has left running ([Exit.Left]). It reports how many processes
// it ended and which it could not. It is for after Run, and does nothing before that.
func (p *Process) EndTree() (killed int, left []Proc) {
	if !p.over.Load() {
		return 0, nil
	}
	p.treeOver.Store(false)
	defer p.treeOver.Store(true)
	return p.endTree()
}

// TreeEnded reports whether the command has ended, and so has its tree if it was to. Run may still be held up by a writer
// that blocks.
func (p *Process) TreeEnded() bool { return p.treeOver.Load() }

// ended reports whether the root has ended.
func (p *Process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// startWatch starts the goroutine that knows the limits and takes requests to stop.
func (p *Process) startWatch() {
	p.stops, p.watched = make(chan Ladder), make(chan struct{})
	go func() {
		defer close(p.watched)
		p.reason = p.watch()
	}()
}

const (
	// tick is how often the watch looks at the clock, so that it notices when time has passed without us.
	tick = time.Second
	// suspendedAfter is the delay that counts as such time. A busy machine has less, or delays the command as well.
	suspendedAfter = time.Second
)

// watch waits for the end of the process, or for a limit or a request to stop it, and then stops it.
func (p *Process) watch() Reason {
	l := limits{timeout: p.spec.Timeout, stall: p.spec.Stall, linger: p.spec.Linger,
		start: p.start, life: &p.life, delivered: &p.delivered}
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
		if p.writing.Load() > 0 {
			p.Beat() // it is not silent: its output is not being taken
		}
		if stall := p.stall.Load(); stall != 0 && p.spec.Stall > 0 {
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
		if p.spec.hasCeiling() {
			excess, next := p.lookUp(now)
			switch {
			case p.ended():
				return Exited
			case excess != nil:
				p.excess = excess
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
		case ladder := <-p.stops:
			p.climb(ladder)
			return Stopped
		case <-p.clockChanged:
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
			p.forced = true
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
		case ladder = <-p.stops:
		case <-timer.C:
			if len(ladder) > 0 {
				ladder = ladder[1:]
			}
			if len(ladder) > 0 && p.excess != nil && p.beyond() {
				ladder = nil
			}
		}
	}
}

// conclude sees to the tree and the output once the root has ended.
func (p *Process) conclude() Exit {
	p.watchOnce.Do(func() {}) // the watch must not be started any more
	if p.watched != nil {
		<-p.watched
	}
	exit := Exit{Reason: p.reason, Started: p.start, Duration: time.Since(p.start), Excess: p.excess, TreePeak: p.gauge.peak}
	stopped := p.reason != Exited
	if stopped {
		p.startPumps() // what is ended now may have something to say
		exit.Killed, exit.Left = p.endTree()
	}
	p.treeOver.Store(true)
	p.reap()
	exit.Code, exit.Signal, exit.CPU, exit.Peak = p.status.code(), p.status.signal(), p.cpu, p.maxRSS
	p.term.release(p, stopped || exit.Signal != 0)
	held := p.drain()
	if !stopped && !p.alone {
		exit.Left = p.survivors(held)
	}
	p.keepLeftovers()
	p.over.Store(true)
	return exit
}
