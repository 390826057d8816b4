package supervise

import (
	"errors"
	"math"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/supervise/proctable"
)

// reaper is the [owner]: it does all waiting of a process that has called Own. Nothing else in the process may wait: wait4(-1) takes every
// exit status there is (100 of 100 were lost to os/exec when that was tried).
type reaper struct {
	// launching is held while a child is started, and comes before mu. What reaps any child there is takes it: a new one may end before it is on the list.
	launching sync.Mutex

	lineage // with mu, which is held while a child is reaped or signalled

	waiting bool          // a thread waits for all children
	empty   chan struct{} // closed when the kernel has said that no child is left, and nil from then on
	// sweeping reaps orphans while no thread waits for all children.
	sweeping *time.Timer
}

// theOwner is the only owner that a process can have.
var theOwner = &reaper{lineage: lineage{roots: map[int]*tree{}, runs: map[*tree]bool{}, unrelated: map[int]bool{}, leftovers: map[proctable.Identity]leftover{}}}

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

func (o *reaper) disown() {
	o.mu.Lock()
	o.stopSweeping()
	o.mu.Unlock()
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
}

func (o *reaper) reapLock() *sync.Mutex { return &o.mu }

// launch starts a child. It is on the list of runs before it is there: no other run takes it for an orphan.
func (o *reaper) launch(t *tree, start func() error) error {
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
	t.born, t.ordinal = proctable.StartNow(), math.MaxInt
	if o.runs[t] = true; o.empty == nil {
		o.empty = make(chan struct{})
	}
	o.mu.Unlock()
	err := start()
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		delete(o.runs, t)
		return err
	}
	if o.roots[t.pid] = t; t.pidfd >= 0 && !o.waiting && o.sweeping == nil {
		o.sweepLater(sweepInterval) // until its thread waits
	}
	return nil
}

// await returns when a root has been reaped. While that is all there is, this thread waits for every child: orphans are reaped as they end. Where several commands
// run at a time, each thread waits for its own and reaps what has ended meanwhile: a thread that waits for all of them would be woken by each of many short commands, only to
// wake another.
func (o *reaper) await(t *tree) {
	o.mu.Lock()
	all := !o.waiting && len(o.roots) == 1 && o.roots[t.pid] == t // else another run has reaped it while its streams were read
	o.waiting = o.waiting || all
	if !all && !o.waiting && o.sweeping == nil {
		o.sweepLater(sweepInterval)
	}
	o.mu.Unlock()
	if !all {
		o.awaitRoot(t)
		return
	}
	for !o.reap() {
		if t.ended() {
			o.handOver()
			return
		}
	}
}

// awaitRoot waits for one of several commands.
func (o *reaper) awaitRoot(t *tree) {
	for !t.ended() {
		unix.Waitid(unix.P_PID, t.pid, nil, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil)
		free := o.launching.TryLock()
		o.mu.Lock()
		if o.take(t); free { // else there is a child that is not on the list yet, and another will sweep
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
func (o *reaper) take(t *tree) {
	var ws syscall.WaitStatus
	var ru syscall.Rusage
	if o.roots[t.pid] != t {
		return // it was taken
	}
	pid, err := syscall.Wait4(t.pid, &ws, syscall.WNOHANG|syscall.WUNTRACED, &ru)
	switch {
	case errors.Is(err, syscall.EINTR), err == nil && pid == 0:
	case err == nil && ws.Stopped():
		t.term.Note(ws.StopSignal())
	default: // or other code has reaped it
		delete(o.roots, t.pid)
		t.take(ws, &ru, err)
		o.end(t, false)
	}
}

// handOver ends the waiting of a thread whose own command has ended. Other commands are waited for by their own threads.
func (o *reaper) handOver() {
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
func (o *reaper) reapRest() {
	for !o.reap() {
	}
}

const (
	// sweepInterval is how often orphans are reaped while several commands run, and maxSweepInterval how seldom if there are none.
	sweepInterval    = 50 * time.Millisecond
	maxSweepInterval = time.Second
)

// sweepLater reaps orphans now and then, for as long as no thread waits for all children. It is called under the lock.
func (o *reaper) sweepLater(after time.Duration) {
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
func (o *reaper) stopSweeping() {
	if o.sweeping != nil {
		o.sweeping.Stop()
		o.sweeping = nil
	}
}

// reap waits until there is something to reap, and reaps all there is. It reports true when the kernel says that no
// child is left.
func (o *reaper) reap() (empty bool) {
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
func (o *reaper) sweepUnlessAwaited() {
	if !o.waiting {
		o.sweep()
	}
}

// sweep reaps all there is to reap, and reports how many orphans there were. It is called under both locks.
func (o *reaper) sweep() (orphans int) {
	var ended []*tree
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
			for _, t := range o.roots {
				t.take(0, &ru, err)
				ended = append(ended, t)
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
		switch t := o.roots[pid]; {
		case t == nil: // an orphan, or unrelated
			orphans++
			if o.unrelated[pid] && !ws.Stopped() {
				delete(o.unrelated, pid)
				orphaned = true
			}
		case ws.Stopped():
			t.term.Note(ws.StopSignal())
		default:
			delete(o.roots, pid)
			t.take(ws, &ru, nil)
			ended = append(ended, t)
		}
	}
	if orphaned {
		// What unrelated children have left has become ours. Once for all of them: a walk for each is too slow if one keeps
		// starting processes that it does not wait for, and what we have not reaped makes every walk slower.
		o.noteUnrelated()
	}
	for _, t := range ended {
		o.end(t, empty)
	}
	return orphans
}

// end notes that a root was reaped. It is called under the lock.
func (o *reaper) end(t *tree, empty bool) {
	o.ends++
	t.ordinal, t.alone = o.ends, empty
	close(t.exited)
}

// settled reports within d whether all descendants are gone and reaped.
func (o *reaper) settled(d time.Duration) bool {
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
