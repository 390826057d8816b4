package supervise

import (
	"errors"
	"math"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// owner does all waiting of a process that has called Own. Nothing else in the process may wait: wait4(-1) takes every
// exit status there is (100 of 100 were lost to os/exec when that was tried).
type owner struct {
	// launching is held while a child is started, and comes before mu. What reaps any child there is takes it: a new one may end before it is on the list.
	launching sync.Mutex

	mu      sync.Mutex // held while a child is reaped or signalled
	roots   map[int]*Process
	waiting bool          // a thread waits for all children
	empty   chan struct{} // closed when the kernel has said that no child is left, and nil from then on
	// sweeping reaps orphans while no thread waits for all children.
	sweeping *time.Timer

	// These tell which run an orphan belongs to, see orphans_linux.go.
	runs      map[*Process]bool     // started, and not concluded
	ends      int                   // how many roots have ended
	unrelated map[int]bool          // children of ours that may not come from any run
	leftovers map[identity]leftover // what runs that ended by themselves have left running
}

// theOwner is the only owner that a process can have.
var theOwner = &owner{roots: map[int]*Process{}, runs: map[*Process]bool{}, unrelated: map[int]bool{}, leftovers: map[identity]leftover{}}

// Own makes the calling process the owner of all its descendants, the orphaned ones included, for as long as it
// lives or until [Supervisor.Disown]. It is for a program that owns its process and starts processes only through
// such Supervisors; children that it has already are left alone. Where the system has no such thing, it returns a
// Supervisor that works as the zero value does.
func Own() *Supervisor {
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return &Supervisor{}
	}
	return &Supervisor{owner: theOwner}
}

// Disown undoes Own. No process may be running, nor be left running: as long as there is a child, its end is waited
// for in the way of an owner.
func (s *Supervisor) Disown() {
	if s.owner != nil {
		s.owner.mu.Lock()
		s.owner.stopSweeping()
		s.owner.mu.Unlock()
		unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
		s.owner = nil
	}
}

// reapLock is what is held while the root is reaped.
func (p *Process) reapLock() *sync.Mutex {
	if p.owner != nil {
		return &p.owner.mu
	}
	return &p.mu
}

// launch starts a child. It is on the list of runs before it is there: no other run takes it for an orphan.
func (o *owner) launch(p *Process) error {
	o.launching.Lock()
	defer o.launching.Unlock()
	o.mu.Lock()
	if !o.waiting && len(o.roots) == 0 {
		clear(o.unrelated)
		clear(o.leftovers)
		if !childless() {
			o.noteUnrelated()
		}
	}
	p.born, p.ordinal = startNow(), math.MaxInt
	if o.runs[p] = true; o.empty == nil {
		o.empty = make(chan struct{})
	}
	o.mu.Unlock()
	err := p.fork()
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		delete(o.runs, p)
		return err
	}
	if o.roots[p.pid] = p; p.pidfd >= 0 && !o.waiting && o.sweeping == nil {
		o.sweepLater(sweepInterval) // until its thread waits
	}
	return nil
}

// await returns when p has been reaped. While p is all there is, this thread waits for every child: orphans are reaped as they end. Where several commands run at a
// time, each thread waits for its own and reaps what has ended meanwhile: a thread that waits for all of them would be woken by each of many short commands, only to
// wake another.
func (o *owner) await(p *Process) {
	o.mu.Lock()
	all := !o.waiting && len(o.roots) == 1 && o.roots[p.pid] == p // else another run has reaped it while its streams were read
	o.waiting = o.waiting || all
	if !all && !o.waiting && o.sweeping == nil {
		o.sweepLater(sweepInterval)
	}
	o.mu.Unlock()
	if !all {
		o.awaitRoot(p)
		return
	}
	for !o.reap() {
		if p.ended() {
			o.handOver()
			return
		}
	}
}

// awaitRoot waits for one of several commands.
func (o *owner) awaitRoot(p *Process) {
	for !p.ended() {
		unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil)
		free := o.launching.TryLock()
		o.mu.Lock()
		if o.take(p); free { // else there is a child that is not on the list yet, and another will sweep
			o.sweepUnlessAwaited()
			o.launching.Unlock()
		}
		rest := free && len(o.roots) == 0 && o.empty != nil && !o.waiting
		o.waiting = o.waiting || rest
		o.mu.Unlock()
		if rest {
			go o.reapRest()
		}
	}
}

// take takes the status of one root, if it has ended. It is called under the lock.
func (o *owner) take(p *Process) {
	var ws syscall.WaitStatus
	var ru syscall.Rusage
	if o.roots[p.pid] != p {
		return // it was taken
	}
	pid, err := syscall.Wait4(p.pid, &ws, syscall.WNOHANG|syscall.WUNTRACED, &ru)
	switch {
	case errors.Is(err, syscall.EINTR), err == nil && pid == 0:
	case err == nil && ws.Stopped():
		p.term.note(ws.StopSignal())
	default: // or other code has reaped it
		delete(o.roots, p.pid)
		p.take(ws, &ru, err)
		o.end(p, false)
	}
}

// handOver ends the waiting of a thread whose own command has ended. Other commands are waited for by their own threads.
func (o *owner) handOver() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.roots) == 0 {
		go o.reapRest()
		return
	}
	o.waiting = false
	if o.sweeping == nil {
		o.sweepLater(sweepInterval)
	}
}

// reapRest waits for what is left: what commands have left running, and commands that are started meanwhile.
func (o *owner) reapRest() {
	for !o.reap() {
	}
}

const (
	// sweepInterval is how often orphans are reaped while several commands run, and maxSweepInterval how seldom if there are none.
	sweepInterval    = 50 * time.Millisecond
	maxSweepInterval = time.Second
)

// sweepLater reaps orphans now and then, for as long as no thread waits for all children. It is called under the lock.
func (o *owner) sweepLater(after time.Duration) {
	var timer *time.Timer
	timer = time.AfterFunc(after, func() {
		o.launching.Lock()
		defer o.launching.Unlock()
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.sweeping != timer { // it was stopped
			return
		}
		if o.sweeping = nil; o.waiting || o.empty == nil {
			return
		}
		if after = min(2*after, maxSweepInterval); o.sweep() > 0 {
			after = sweepInterval
		}
		if o.empty != nil {
			o.sweepLater(after)
		}
	})
	o.sweeping = timer
}

// stopSweeping ends that. It is called under the lock.
func (o *owner) stopSweeping() {
	if o.sweeping != nil {
		o.sweeping.Stop()
		o.sweeping = nil
	}
}

// reap waits until there is something to reap, and reaps all there is. It reports true when the kernel says that no
// child is left.
func (o *owner) reap() (empty bool) {
	// Only a look: what is reaped must be reaped under the lock, so that a pid that is free again is never signalled.
	for errors.Is(unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	o.launching.Lock()
	defer o.launching.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sweep()
	if empty = o.empty == nil; empty {
		o.waiting = false
	}
	return empty
}

// sweepUnlessAwaited sweeps if no thread waits for all children: that one would not learn that its own command has ended, if another has reaped it, before
// any other child ends. It is called under both locks.
func (o *owner) sweepUnlessAwaited() {
	if !o.waiting {
		o.sweep()
	}
}

// sweep reaps all there is to reap, and reports how many orphans there were. It is called under both locks.
func (o *owner) sweep() (orphans int) {
	var ended []*Process
	orphaned, empty := false, false
	for {
		var ws syscall.WaitStatus
		var ru syscall.Rusage
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG|syscall.WUNTRACED, &ru)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if empty = err != nil; empty {
			// Nothing can have been started since. What is still on the list was reaped by other code.
			for _, p := range o.roots {
				p.take(0, &ru, err)
				ended = append(ended, p)
			}
			clear(o.roots)
			if o.empty != nil {
				close(o.empty)
				o.empty = nil
			}
			o.stopSweeping() // a child that comes next may be another owner's
		}
		if empty || pid == 0 {
			break
		}
		switch p := o.roots[pid]; {
		case p == nil: // an orphan, or unrelated
			orphans++
			if o.unrelated[pid] && !ws.Stopped() {
				delete(o.unrelated, pid)
				orphaned = true
			}
		case ws.Stopped():
			p.term.note(ws.StopSignal())
		default:
			delete(o.roots, pid)
			p.take(ws, &ru, nil)
			ended = append(ended, p)
		}
	}
	if orphaned {
		// What unrelated children have left has become ours. Once for all of them: a walk for each is too slow if one keeps
		// starting processes that it does not wait for, and what we have not reaped makes every walk slower.
		o.noteUnrelated()
	}
	for _, p := range ended {
		o.end(p, empty)
	}
	return orphans
}

// end notes that a root was reaped. It is called under the lock.
func (o *owner) end(p *Process, empty bool) {
	o.ends++
	p.ordinal, p.alone = o.ends, empty
	close(p.exited)
}

// settled reports within d whether all descendants are gone and reaped.
func (o *owner) settled(d time.Duration) bool {
	o.launching.Lock()
	o.mu.Lock()
	o.sweepUnlessAwaited()
	empty := o.empty
	if empty != nil && !o.waiting { // from now on each end counts
		o.waiting = true
		go o.reapRest()
	}
	o.mu.Unlock()
	o.launching.Unlock()
	if empty == nil {
		return true
	}
	select {
	case <-empty:
		return true
	case <-time.After(d):
		return false
	}
}
