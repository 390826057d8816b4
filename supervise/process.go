package supervise

import (
	"syscall"
	"time"
)

// stopRequest asks the watch to take the rungs of a ladder.
type stopRequest struct{ ladder Ladder }

// Stop begins to stop the command: the ladder's signals, then SIGKILL for the whole tree. It does not wait. A second
// Stop goes on from the new ladder, so that an empty one means: kill now.
func (p *Process) Stop(ladder Ladder) {
	p.watchOnce.Do(p.startWatch)
	if p.watched == nil {
		return // it has ended
	}
	select {
	case p.stops <- stopRequest{ladder}:
	case <-p.watched:
	}
}

// Kill kills the whole tree now.
func (p *Process) Kill() { p.Stop(Ladder{}) }

// Signal sends one signal to the command, and to its group if that is its own.
func (p *Process) Signal(sig syscall.Signal) {
	select {
	case <-p.exited:
	default:
		p.signalTree(sig)
	}
}

// EndTree ends what a command that has exited by itself has left running ([Exit.Left]). It reports how many processes
// it ended and which it could not.
func (p *Process) EndTree() (killed int, left []Proc) { return p.endTree() }

// startWatch starts the goroutine that knows the limits and takes requests to stop.
func (p *Process) startWatch() {
	p.stops, p.watched = make(chan stopRequest), make(chan struct{})
	go func() {
		defer close(p.watched)
		p.reason = p.watch()
	}()
}

// watch waits for the end of the process, or for a limit or a request to stop it, and then sees it out.
func (p *Process) watch() Reason {
	w := limits{timeout: p.spec.Timeout, stall: p.spec.Stall, linger: p.spec.Linger,
		start: p.start, life: &p.life, given: &p.given}
	timer := time.NewTimer(0)
	defer timer.Stop()
	var pausedAt time.Time
	for {
		reason, wait := w.due(time.Now())
		if reason != Exited && pausedAt.IsZero() {
			p.climb(p.spec.Ladder)
			return reason
		}
		if wait <= 0 {
			wait = time.Second // Delivered may set a clock going that does not run yet
		}
		timer.Reset(wait)
		select {
		case <-p.exited:
			return Exited
		case req := <-p.stops:
			p.climb(req.ladder)
			return Stopped
		case suspended := <-p.paused:
			if suspended {
				pausedAt = time.Now()
			} else if !pausedAt.IsZero() {
				w.paused += time.Since(pausedAt)
				pausedAt = time.Time{}
				p.Beat()
			}
		case <-timer.C:
		}
	}
}

// climb takes the rungs of the ladder until the command is gone. Another request replaces what is left of it.
func (p *Process) climb(ladder Ladder) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if len(ladder) == 0 {
			p.rude = true
			p.signalTree(syscall.SIGKILL)
			timer.Reset(time.Second)
		} else {
			if sig := ladder[0].Signal; sig != 0 {
				p.signalTree(sig)
			}
			timer.Reset(ladder[0].Wait)
		}
		select {
		case <-p.exited:
			return
		case req := <-p.stops:
			ladder = req.ladder
		case <-timer.C:
			if len(ladder) > 0 {
				ladder = ladder[1:]
			}
		case <-p.paused:
		}
	}
}

const (
	// politePause is how long survivors have between SIGTERM and SIGKILL.
	politePause = 500 * time.Millisecond
	// killPatience is how long we try to end them.
	killPatience = 10 * time.Second
)

// conclude sees to the tree and the output once the root has been reaped.
func (p *Process) conclude() Exit {
	p.watchOnce.Do(func() {}) // nobody may begin to watch any more
	if p.watched != nil {
		<-p.watched
	}
	exit := Exit{Code: p.status.code(), Signal: p.status.signal(), Reason: p.reason,
		Started: p.start, Duration: time.Since(p.start), CPU: p.cpu}
	if p.term != nil {
		p.term.release(p.pid, exit.Reason != Exited || exit.Signal != 0)
	}
	if exit.Reason != Exited {
		exit.Killed, exit.Left = p.endTree()
	} else if !p.alone {
		exit.Left = p.survivors()
	}
	p.drain()
	p.letGo()
	return exit
}
