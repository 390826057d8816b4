package supervise

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/supervise/proctable"
)

// Orphaned descendants become children of the owner. One that has also left its group and session and has wiped its
// environment, as a daemon behind sudo has, does not show where it comes from. What remains is what can have started
// it: a run that was under way at the time, what an earlier run has left running, or a child that comes from no run.

// lineage is what tells which run an orphan belongs to.
type lineage struct {
	mu        sync.Mutex
	roots     map[int]*tree                   // by the pid of the root, which has not been reaped
	runs      map[*tree]bool                  // started, and not concluded
	ends      int                             // how many roots have ended
	unrelated map[int]bool                    // children of ours that may not come from any run
	leftovers map[proctable.Identity]leftover // what runs that ended by themselves have left running
}

// leftover is a process that a run left running when it ended by itself. Another run must not end it.
type leftover struct {
	ordinal int // of the run
	runID   string
	session int
}

// childless reports whether we have no children at all. A process that has started none nearly always has none; but a
// shell that starts something in the background and then executes us leaves us its children.
func childless() bool {
	return errors.Is(unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil), unix.ECHILD)
}

// hasOnlyRoots reports whether it is certain that all our children are commands under way, or were left running by earlier ones. Then nothing is left of one that
// has ended: whatever it has started and has not ended is a descendant of an orphan, and the kernel makes an orphan the child of our first thread. That costs one
// small file, where a walk over all processes costs more than a short command does.
func (o *lineage) hasOnlyRoots() bool {
	o.mu.Lock() // nothing is reaped meanwhile, so that the list is complete
	defer o.mu.Unlock()
	pid := strconv.Itoa(os.Getpid())
	fd, err := unix.Open("/proc/"+pid+"/task/"+pid+"/children", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var list [512]byte
	n, err := unix.Read(fd, list[:])
	if err != nil || n == len(list) || len(o.unrelated) > 0 {
		return false
	}
	for text := range bytes.FieldsSeq(list[:n]) {
		child, err := strconv.Atoi(string(text))
		if err != nil {
			return false
		}
		if o.roots[child] != nil {
			continue
		}
		q, err := proctable.Find(child)
		if _, left := o.leftovers[q.Identity()]; err != nil || !left || q.Zombie() {
			return false
		}
	}
	return true
}

// noteUnrelated notes all children that are not known to come from a run. It is called under the lock.
func (o *lineage) noteUnrelated() {
	proctable.Walk(func(q Proc) {
		if _, left := o.leftovers[q.Identity()]; q.PPID != os.Getpid() || q.Zombie() || o.roots[q.PID] != nil || left {
			return
		}
		for r := range o.runs {
			if r.isMarked(q) {
				return
			}
		}
		o.unrelated[q.PID] = true
	})
}

// inherits reports whether q is an orphan that is the tree's to end or to report. If several runs can have started it, it is
// that of the one that ends last: as long as another one is under way, the orphan may be part of its work.
func (o *lineage) inherits(t *tree, q Proc) bool {
	if q.PPID != os.Getpid() {
		return false
	}
	o.mu.Lock()
	foreign := o.unrelated[q.PID] || o.roots[q.PID] != nil
	for r := range o.runs {
		foreign = foreign || r != t && !q.StartedBefore(r.born) && r.ordinal >= t.ordinal
	}
	unrelated := maps.Clone(o.unrelated)
	o.mu.Unlock()
	return !foreign && (len(unrelated) == 0 || t.isMarked(q) || noOrphansOf(unrelated))
}

// ofAnotherRun reports whether q belongs to another run, or to what another run has left running: by its marker, its
// session or its ancestors. A session other than ours begins in one tree, and nothing of another tree can join it.
func (o *lineage) ofAnotherRun(t *tree, q Proc) bool {
	o.mu.Lock()
	o.forgetEnded()
	left := maps.Clone(o.leftovers)
	maps.DeleteFunc(left, func(_ proctable.Identity, l leftover) bool { return l.ordinal == t.ordinal })
	var ids []string
	for r := range o.runs {
		ids = append(ids, r.runID)
	}
	o.mu.Unlock()

	ours, _ := unix.Getsid(0)
	for _, l := range left {
		if l.session == q.SID && q.SID != ours {
			return true
		}
		ids = append(ids, l.runID)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" || id == t.runID })
	if len(ids) > 0 && !t.isMarked(q) && len(q.Runs(ids)) > 0 {
		return true
	}
	for len(left) > 0 {
		if _, is := left[q.Identity()]; is {
			return true
		}
		parent, err := proctable.Find(q.PPID)
		if err != nil || parent.PID == os.Getpid() {
			break
		}
		q = parent
	}
	return false
}

// conclude notes that Run returns: from now on no other run may end what this one has left running, if it has ended by itself.
func (o *lineage) conclude(t *tree, stopped bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.runs, t)
	stay := t.daemons.found
	if !stopped && len(t.known) > 0 {
		stay = append(slices.Clone(stay), slices.Collect(maps.Values(t.known))...)
	}
	if len(stay) > 0 {
		o.forgetEnded()
	}
	for _, q := range stay {
		o.leftovers[q.Identity()] = leftover{t.ordinal, t.runID, q.SID}
	}
}

// forgetEnded drops leftovers that have ended. It is called under the lock.
func (o *lineage) forgetEnded() {
	maps.DeleteFunc(o.leftovers, func(id proctable.Identity, _ leftover) bool {
		q, err := proctable.Find(id.PID)
		return err != nil || q.Identity() != id
	})
}

// noOrphansOf reports whether it is certain that no unrelated child has left us an orphan. A process becomes an orphan
// when its parent ends, and that leaves a trace: where no child has ever ended, nothing was orphaned.
func noOrphansOf(unrelated map[int]bool) bool {
	for range 2 { // a child that is waited for during the first look shows in the second
		children := map[int][]Proc{}
		proctable.Walk(func(q Proc) { children[q.PPID] = append(children[q.PPID], q) })
		tree := slices.DeleteFunc(children[os.Getpid()], func(q Proc) bool { return !unrelated[q.PID] })
		if len(tree) < len(unrelated) {
			return false
		}
		for ; len(tree) > 0; tree = tree[1:] {
			q := tree[0]
			if q.Zombie() || q.ChildEnded() || q.Ignores(unix.SIGCHLD) {
				return false
			}
			tree = append(tree, children[q.PID]...)
		}
	}
	return true
}
