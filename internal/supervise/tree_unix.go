//go:build linux || darwin

package supervise

import (
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/supervise/proctable"
)

// tree is a command and all that comes from it.
type tree struct {
	root
	runID string
	owner owner  // nil in a library
	born  uint64 // nothing of the tree has a smaller Proc.Start
	daemons

	known  map[proctable.Identity]Proc // members that remember has found
	others bool                        // the last walk saw children of ours that do not belong to it
	over   atomic.Bool                 // Run returns: the pid, and the group, may be another's

	// Of an owner's, guarded by its lock.
	ordinal int  // its place in the order in which roots have ended; math.MaxInt before that
	alone   bool // nothing else was left when the root had been reaped
}

// owner waits for all children of a process that has called [Own], and knows which of them come from which tree.
type owner interface {
	// launch starts the root of a tree by calling start, and await waits for its end.
	launch(t *tree, start func() error) error
	await(t *tree)
	// reapLock is held while a child is reaped or signalled.
	reapLock() *sync.Mutex
	// hasOnlyRoots reports whether it is certain that nothing is left of a tree whose root has ended, and settled, within d, whether all
	// descendants are gone and reaped.
	hasOnlyRoots() bool
	settled(d time.Duration) bool
	// inherits reports whether q is an orphan that is the tree's to end or to report, and ofAnotherRun whether it certainly comes from another one.
	inherits(t *tree, q Proc) bool
	ofAnotherRun(t *tree, q Proc) bool
	// conclude notes that what a tree has left running by itself is no other one's to end.
	conclude(t *tree, stopped bool)
	// disown undoes [Own].
	disown()
}

// init makes it the tree of a command that is about to be started.
func (t *tree) init(spec *Spec, o owner) {
	t.runID, t.owner = spec.RunID, o
	t.daemons = daemons{path: spec.Path, patterns: spec.Daemons}
	t.pidfd, t.exited, t.ownGroup = -1, make(chan struct{}), spec.Placement != SharedGroup
	if o != nil {
		t.lock = o.reapLock()
	}
}

// keep notes that Run is about to return.
func (t *tree) keep(stopped bool) {
	if t.owner != nil {
		t.owner.conclude(t, stopped)
	}
}

// endTree ends whatever is left of the tree once the root is gone: SIGTERM, a moment, SIGKILL, until nothing is
// left. forced says that the root had to be killed, and outgrown that the rest cannot be given that moment any more.
func (t *tree) endTree(forced bool, outgrown func() bool) (killed int, left []Proc) {
	begin := time.Now()
	if forced {
		begin = begin.Add(-politePause)
	}
	ended := map[proctable.Identity]bool{}
	pause := time.Millisecond // between two walks over the tree: what is not our child does not tell us that it has ended
	passes := 0
	for emptyWalks := 0; ; {
		sig := syscall.SIGTERM
		if time.Since(begin) >= politePause || outgrown() {
			sig = syscall.SIGKILL
		}
		refused, fresh := map[proctable.Identity]bool{}, false
		end := func(q Proc) {
			if sig == syscall.SIGTERM && ended[q.Identity()] {
				return // asked already
			}
			err := t.endMember(q, sig)
			denied := errors.Is(err, syscall.EPERM)
			fresh = fresh || !ended[q.Identity()]
			if err == nil || denied {
				ended[q.Identity()] = true
			}
			if denied && sig == syscall.SIGKILL {
				refused[q.Identity()] = true
			}
		}
		left = t.findMembers(proctable.Walk, end)
		if t.owner != nil {
			// What starts another one and ends, again and again, can be faster than a walk over all processes. But each of
			// them becomes our child, and those are quickly found.
			fresh = true
			for i := 0; fresh && i < 1000; i++ {
				fresh = false
				t.findMembers(proctable.WalkChildren, end)
			}
		}
		if sig == syscall.SIGKILL {
			t.signalTree(sig) // one signal ends a whole group, however fast it forks
		}
		if emptyWalks++; len(left) > 0 {
			emptyWalks = 0
		}
		if t.gone(pause, emptyWalks) {
			return len(ended), nil
		}
		allRefused := len(left) > 0 && !slices.ContainsFunc(left, func(q Proc) bool { return !refused[q.Identity()] }) // another user's, such as a daemon that sudo has started
		if passes++; allRefused || time.Since(begin) > killTimeout && passes > killPasses {
			for _, q := range left {
				delete(ended, q.Identity())
			}
			return len(ended), left
		}
		pause = min(2*pause, 20*time.Millisecond)
		if sig == syscall.SIGTERM && t.owner != nil && !t.others {
			// The kernel says when all have ended, and there is nothing to do before they are killed.
			pause = max(pause, min(politePause/4, politePause-time.Since(begin)))
		}
	}
}

// gone reports within d whether the tree has ended. emptyWalks is how many walks in a row have found nothing. With an
// owner the kernel says whether any child is left, which answers the question while we have no other children.
func (t *tree) gone(d time.Duration, emptyWalks int) bool {
	if t.owner != nil && !t.others {
		return t.owner.settled(d)
	}
	if emptyWalks >= 2 {
		return true
	}
	time.Sleep(d)
	return false
}

// survivors are the descendants that still run after the root has exited by itself. held says that one of them holds
// a pipe open.
func (t *tree) survivors(held bool) []Proc {
	// A library does not walk the process table after every run: only if there is a sign that a process is left.
	group := t.ownGroup && syscall.Kill(-t.pid, 0) == nil
	if !group && !held && (t.owner == nil || t.owner.hasOnlyRoots()) {
		return nil
	}
	return t.remember()
}

// remember finds the members of the tree and keeps them: later there may be no other way to find them.
func (t *tree) remember() []Proc {
	if root, err := proctable.Find(t.pid); err == nil && !t.ended() {
		lock := t.reapLock() // other runs of an owner look at it
		lock.Lock()
		t.born = min(t.born, root.Start) // should the system count otherwise than we do
		lock.Unlock()
	}
	found := t.findMembers(proctable.Walk, func(Proc) {})
	// What starts another one and ends, again and again, can escape a walk. The kernel knows that there is a child.
	for i := 0; i < 20 && len(found) == 0 && t.owner != nil && t.ended() && !t.others && !t.owner.settled(0); i++ {
		found = t.findMembers(proctable.WalkChildren, func(Proc) {})
	}
	t.know(found)
	return found
}

// know keeps the members of the tree that were found.
func (t *tree) know(found []Proc) {
	t.known = make(map[proctable.Identity]Proc, len(found))
	for _, q := range found {
		t.known[q.Identity()] = q
	}
}

// findMembers walks the process table once, or the part of it that walk visits, and calls found for each living process of
// the run except the root, as soon as it sees it.
func (t *tree) findMembers(walk func(visit func(Proc)) error, found func(Proc)) (members []Proc) {
	me := os.Getpid()
	grouped := !t.over.Load() // else the pid, and the group, may be another's by now
	member := map[int]bool{}
	if !t.ended() {
		member[t.pid] = true
	}
	ours := func(q Proc) bool {
		_, known := t.known[q.Identity()]
		known = known && q.Start > 0 // else it may be another one that has got the pid
		switch {
		case q.StartedBefore(t.born):
			return false
		case known, member[q.PPID], grouped && (q.PGID == t.pid || q.SID == t.pid):
			return true
		}
		if t.owner == nil {
			return t.isMarked(q)
		}
		return (t.owner.inherits(t, q) || t.isMarked(q)) && !t.owner.ofAnotherRun(t, q)
	}
	var rest []Proc
	t.others = false
	look := func(q Proc) bool {
		if !ours(q) || t.spares(q) {
			return false
		}
		member[q.PID] = true
		members = append(members, q)
		found(q)
		return true
	}
	walk(func(q Proc) {
		if q.Zombie() || q.PID == me || q.PID == t.pid || member[q.PID] {
			return
		}
		if !look(q) {
			rest = append(rest, q)
			t.others = t.others || q.PPID == me
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
func (t *tree) isMarked(q Proc) bool {
	return t.runID != "" && len(q.Runs([]string{t.runID})) > 0
}

// endMember signals a member of a tree. It is killed with its group if that is in another session than ours, because then
// the session has begun in the tree. The group of a daemon stays.
func (t *tree) endMember(q Proc, sig syscall.Signal) error {
	err := q.Signal(sig)
	if sig == syscall.SIGKILL && err == nil && q.PGID > 1 && q.SID > 0 && !t.leads(q.PGID) {
		if session, err := unix.Getsid(0); err == nil && q.SID != session {
			syscall.Kill(-q.PGID, sig)
		}
	}
	return err
}
