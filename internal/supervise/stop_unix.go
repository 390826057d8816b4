//go:build linux || darwin

package supervise

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endTree ends whatever is left of the tree once the root is gone: SIGTERM, a moment, SIGKILL, until nothing is
// left.
func (p *Process) endTree() (killed int, left []Proc) {
	begin := time.Now()
	if p.forced {
		begin = begin.Add(-politePause)
	}
	ended := map[identity]bool{}
	pause := time.Millisecond // between two walks over the tree: what is not our child does not tell us that it has ended
	passes := 0
	for emptyWalks := 0; ; {
		sig := syscall.SIGTERM
		if time.Since(begin) >= politePause || p.excess != nil && p.beyond() {
			sig = syscall.SIGKILL
		}
		refused, fresh := map[identity]bool{}, false
		end := func(q Proc) {
			if sig == syscall.SIGTERM && ended[q.identity()] {
				return // asked already
			}
			err := q.end(sig)
			denied := errors.Is(err, syscall.EPERM)
			fresh = fresh || !ended[q.identity()]
			if err == nil || denied {
				ended[q.identity()] = true
			}
			if denied && sig == syscall.SIGKILL {
				refused[q.identity()] = true
			}
		}
		left = p.findMembers(walk, end)
		if p.owner != nil {
			// What starts another one and ends, again and again, can be faster than a walk over all processes. But each of
			// them becomes our child, and those are quickly found.
			fresh = true
			for i := 0; fresh && i < 1000; i++ {
				fresh = false
				p.findMembers(walkChildren, end)
			}
		}
		if sig == syscall.SIGKILL {
			p.signalTree(sig) // one signal ends a whole group, however fast it forks
		}
		if emptyWalks++; len(left) > 0 {
			emptyWalks = 0
		}
		if p.gone(pause, emptyWalks) {
			return len(ended), nil
		}
		allRefused := len(left) > 0 && !slices.ContainsFunc(left, func(q Proc) bool { return !refused[q.identity()] }) // another user's, such as a daemon that sudo has started
		if passes++; allRefused || time.Since(begin) > killTimeout && passes > killPasses {
			for _, q := range left {
				delete(ended, q.identity())
			}
			return len(ended), left
		}
		pause = min(2*pause, 20*time.Millisecond)
		if sig == syscall.SIGTERM && p.owner != nil && !p.others {
			// The kernel says when all have ended, and there is nothing to do before they are killed.
			pause = max(pause, min(politePause/4, politePause-time.Since(begin)))
		}
	}
}

// gone reports within d whether the tree has ended. emptyWalks is how many walks in a row have found nothing. With an
// owner the kernel says whether any child is left, which answers the question while we have no other children.
func (p *Process) gone(d time.Duration, emptyWalks int) bool {
	if p.owner != nil && !p.others {
		return p.owner.settled(d)
	}
	if emptyWalks >= 2 {
		return true
	}
	time.Sleep(d)
	return false
}

// survivors are the descendants that still run after the root has exited by itself. held says that one of them holds
// a pipe open.
func (p *Process) survivors(held bool) []Proc {
	// A library does not walk the process table after every run: only if there is a sign that a process is left.
	group := p.spec.Placement != SharedGroup && syscall.Kill(-p.pid, 0) == nil
	if !group && !held && (p.owner == nil || p.owner.hasOnlyRoots()) {
		return nil
	}
	return p.remember()
}

// remember finds the members of the tree and keeps them: later there may be no other way to find them.
func (p *Process) remember() []Proc {
	if root, err := process(p.pid); err == nil && !p.ended() {
		lock := p.reapLock() // other runs of an owner look at it
		lock.Lock()
		p.born = min(p.born, root.Start) // should the system count otherwise than we do
		lock.Unlock()
	}
	found := p.findMembers(walk, func(Proc) {})
	// What starts another one and ends, again and again, can escape a walk. The kernel knows that there is a child.
	for i := 0; i < 20 && len(found) == 0 && p.owner != nil && p.ended() && !p.others && !p.owner.settled(0); i++ {
		found = p.findMembers(walkChildren, func(Proc) {})
	}
	p.know(found)
	return found
}

// know keeps the members of the tree that were found.
func (p *Process) know(found []Proc) {
	p.knownMembers = make(map[identity]Proc, len(found))
	for _, q := range found {
		p.knownMembers[q.identity()] = q
	}
}

// findMembers walks the process table once, or the part of it that walk visits, and calls found for each living process of
// the run except the root, as soon as it sees it.
func (p *Process) findMembers(walk func(visit func(Proc)) error, found func(Proc)) (members []Proc) {
	me := os.Getpid()
	grouped := !p.over.Load() // else the pid, and the group, may be another's by now
	member := map[int]bool{}
	if !p.ended() {
		member[p.pid] = true
	}
	ours := func(q Proc) bool {
		_, known := p.knownMembers[q.identity()]
		known = known && q.Start > 0 // else it may be another one that has got the pid
		switch {
		case q.startedBefore(p.born):
			return false
		case known, member[q.PPID], grouped && (q.PGID == p.pid || q.SID == p.pid):
			return true
		}
		return (p.inherits(q) || p.isMarked(q)) && !p.ofAnotherRun(q)
	}
	var rest []Proc
	p.others = false
	look := func(q Proc) bool {
		if !ours(q) {
			return false
		}
		member[q.PID] = true
		members = append(members, q)
		found(q)
		return true
	}
	walk(func(q Proc) {
		if q.zombie || q.PID == me || q.PID == p.pid || member[q.PID] {
			return
		}
		if !look(q) {
			rest = append(rest, q)
			p.others = p.others || q.PPID == me
		}
	})
	// Pids wrap around at some point, and then a child may be visited before its parent.
	for more := true; more; {
		more = false
		rest = slices.DeleteFunc(rest, func(q Proc) bool {
			is := member[q.PPID] && look(q)
			more = more || is
			return is
		})
	}
	return members
}

// isMarked reports whether q carries a mark of the run.
func (p *Process) isMarked(q Proc) bool {
	return p.spec.RunID != "" && len(q.runs([]string{p.spec.RunID})) > 0
}

// end signals a member of the tree. It is killed with its group if that is in another session than ours, because then
// the session has begun in the tree.
func (p Proc) end(sig syscall.Signal) error {
	err := p.signal(sig)
	if sig == syscall.SIGKILL && err == nil && p.PGID > 1 && p.SID > 0 {
		if session, err := unix.Getsid(0); err == nil && p.SID != session {
			syscall.Kill(-p.PGID, sig)
		}
	}
	return err
}
