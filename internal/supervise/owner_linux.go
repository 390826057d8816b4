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
	mu      sync.Mutex // held while a child is started, reaped or signalled
	roots   map[int]*Process
	waiting bool
	empty   chan struct{} // closed when the kernel has said that no child is left

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

// launch starts a child.
func (o *owner) launch(p *Process) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.waiting && len(o.roots) == 0 {
		clear(o.unrelated)
		clear(o.leftovers)
		if !childless() {
			o.noteUnrelated()
		}
	}
	if err := p.fork(); err != nil {
		return err
	}
	o.roots[p.pid], o.runs[p] = p, true
	p.ordinal = math.MaxInt
	return nil
}

// await returns when p has been reaped. Unless another thread does so already, this one waits for all children there
// are; when its own is gone, and others are not, it hands the waiting on.
func (o *owner) await(p *Process) {
	o.mu.Lock()
	if o.waiting {
		o.mu.Unlock()
		<-p.exited
		return
	}
	o.waiting = true
	o.empty = make(chan struct{})
	o.mu.Unlock()
	for !o.reap() {
		if p.ended() {
			go o.reapRest()
			return
		}
	}
}

// reapRest waits for what is left: other commands, and what a command has left running.
func (o *owner) reapRest() {
	for !o.reap() {
	}
}

// reap waits until there is something to reap, and reaps all there is. It reports true when the kernel says that no
// child is left.
func (o *owner) reap() (empty bool) {
	// Only a look: what is reaped must be reaped under the lock, so that a pid that is free again is never signalled.
	for errors.Is(unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var ended []*Process
	orphaned := false
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
			o.waiting = false
			close(o.empty)
		}
		if empty || pid == 0 {
			break
		}
		switch p := o.roots[pid]; {
		case p == nil: // an orphan, or unrelated
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
		o.ends++
		p.ordinal, p.alone = o.ends, empty
		close(p.exited)
	}
	return empty
}

// settled reports within d whether all descendants are gone and reaped.
func (o *owner) settled(d time.Duration) bool {
	o.mu.Lock()
	empty := o.empty
	o.mu.Unlock()
	select {
	case <-empty:
		return true
	case <-time.After(d):
		return false
	}
}
