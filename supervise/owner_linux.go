package supervise

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// owner does all waiting of a process that has called Own. Beside it nobody may wait: wait4(-1) takes every exit
// status there is (100 of 100 were lost to os/exec when that was tried).
type owner struct {
	mu      sync.Mutex
	roots   map[int]*Process
	waiting bool
	empty   chan struct{} // closed when the kernel has said that no child is left
}

// Own makes the calling process the owner of all its descendants, the orphaned ones included, for as long as it
// lives or until [Supervisor.Disown]. It is for a program that owns its process and starts processes only through
// the Supervisor. Where the system has no such thing, it returns a Supervisor that works as the zero value does.
func Own() *Supervisor {
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return &Supervisor{}
	}
	return &Supervisor{owner: &owner{roots: map[int]*Process{}}}
}

// Disown undoes Own. No process may be running.
func (s *Supervisor) Disown() {
	if s.owner != nil {
		unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
		s.owner = nil
	}
}

// launch starts a child.
func (o *owner) launch(p *Process) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := p.fork(); err != nil {
		return err
	}
	o.roots[p.pid] = p
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
		select {
		case <-p.exited:
			go o.reapRest()
			return
		default:
		}
	}
}

// reapRest waits for what is left: other commands, and what a command has left running.
func (o *owner) reapRest() {
	for !o.reap() {
	}
}

// reap waits for one child. It reports true when the kernel says that there is none.
func (o *owner) reap() (empty bool) {
	pid, ws, ru, err := wait(0)
	if err != nil {
		return o.emptied()
	}
	p := o.root(pid, ws)
	if p == nil {
		return false
	}
	// What else has ended goes now, so that the question "is anything left?" has an answer.
	for {
		other, ows, oru, err := wait(syscall.WNOHANG)
		if err != nil {
			empty = o.emptied()
			break
		}
		if other == 0 {
			break
		}
		if q := o.root(other, ows); q != nil {
			q.finish(ows, &oru, false)
		}
	}
	p.finish(ws, &ru, empty)
	return empty
}

// wait is wait4(-1) past interruptions. The error is that there is no child.
func wait(options int) (pid int, ws syscall.WaitStatus, ru syscall.Rusage, err error) {
	for {
		pid, err = syscall.Wait4(-1, &ws, options|syscall.WUNTRACED, &ru)
		if !errors.Is(err, syscall.EINTR) {
			return pid, ws, ru, err
		}
	}
}

// root returns the supervised process that has ended with this status, nil if it is another or has only stopped.
func (o *owner) root(pid int, ws syscall.WaitStatus) *Process {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.roots[pid]
	if p != nil && ws.Stopped() {
		if p.term != nil {
			p.term.stopped <- ws.StopSignal()
		}
		return nil
	}
	delete(o.roots, pid)
	return p
}

// emptied takes note that no child was left, unless one has been started since.
func (o *owner) emptied() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.roots) > 0 {
		return false
	}
	o.waiting = false
	close(o.empty)
	return true
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

// shared reports whether other supervised processes run too: then a descendant must be told apart by its marker.
func (o *owner) shared() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.roots) > 0
}

// descendants are all living descendants of this process that belong to p.
func (o *owner) descendants(p *Process) []Proc {
	all, err := processes()
	if err != nil {
		return nil
	}
	below := all.below(os.Getpid())
	if !o.shared() {
		return below
	}
	var own []Proc
	for _, q := range below {
		if p.carries(q) {
			own = append(own, q)
		}
	}
	return own
}
