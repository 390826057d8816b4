package runrecord

import (
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/supervise/proctable"
)

// reclaimTimeout is how long a start tries to end what another one has left: not long, because it has work to do, and
// the next one will try again.
const reclaimTimeout = 3 * time.Second

// reclaimPasses is how often it tries at least to kill it: on an overloaded machine one look at all processes can take
// all of that time.
const reclaimPasses = 2

// politePause is the time between SIGTERM and SIGKILL, as for what is left of a tree that is stopped.
const politePause = 500 * time.Millisecond

// enoughWalks is how many walks in a row must find nothing, on a machine where processes end while they are looked at: one
// of them may have started another. Where none does, two are enough.
const enoughWalks = 20

// Reclaim ends what dead owners have left: processes that carry the mark of a run whose owner (pid, start time,
// boot) is no more. It never goes by name, and never touches the run of a living owner, nor one that the calling
// process is itself a part of. It returns the processes it has ended. When there is nothing to reclaim it costs one look
// into a directory.
func (r Records) Reclaim() (ended []proctable.Proc, err error) {
	// Ending a run may have killed the owner of another one, which was nested in it.
	for range 3 {
		dead, ids, err := r.dead()
		if err != nil || len(dead) == 0 {
			return ended, err
		}
		var more []proctable.Proc
		var remaining map[string][]proctable.Proc
		if len(ids) > 0 {
			if more, remaining, err = endMarked(func(p proctable.Proc) []string { return p.Runs(ids) }, reclaimTimeout); err != nil {
				return ended, err
			}
		}
		ended = append(ended, more...)
		if r.settle(dead, remaining); len(more) == 0 || len(remaining) > 0 {
			break
		}
	}
	return ended, nil
}

// ReclaimAll does the same and also ends what [Records.Unrecorded] finds. It looks at all processes there are.
func (r Records) ReclaimAll() ([]proctable.Proc, error) {
	ended, err := r.Reclaim()
	if err != nil {
		return ended, err
	}
	recorded, err := r.scan() // of living owners, and of those that could not be ended
	if err != nil {
		return ended, err
	}
	ids := make([]string, len(recorded))
	for i, rec := range recorded {
		ids[i] = rec.ID
	}
	more, _, err := endMarked(func(p proctable.Proc) []string {
		if !p.AbandonedIn(r.Dir) || len(p.Runs(ids)) > 0 {
			return nil
		}
		return []string{""}
	}, reclaimTimeout)
	return append(ended, more...), err
}

// endMarked ends every process that belongs to one of some runs, and those that they start meanwhile. runs returns the ids
// of those of them that a process belongs to. It returns the processes that could not be ended, by these ids.
func endMarked(runs func(proctable.Proc) []string, timeout time.Duration) (ended []proctable.Proc, remaining map[string][]proctable.Proc, err error) {
	begin := time.Now()
	asked := map[proctable.Identity]bool{}
	pause := time.Millisecond // between two walks over all processes: nothing tells when the last of them has ended
	passes := 0
	for emptyWalks := 0; emptyWalks < enoughWalks; {
		force := time.Since(begin) > politePause
		left := map[proctable.Identity]bool{}
		remaining = map[string][]proctable.Proc{}
		missed := 0
		err := proctable.Walk(func(p proctable.Proc) {
			if p.PID == os.Getpid() {
				return
			}
			carried := runs(p)
			if len(carried) == 0 {
				if p.Vanished() {
					missed++
				}
				return
			}
			for _, id := range carried {
				remaining[id] = append(remaining[id], p)
			}
			id := p.Identity()
			left[id] = true
			if !asked[id] {
				asked[id] = true
				ended = append(ended, p)
				p.Signal(syscall.SIGTERM)
			}
			if force {
				p.Signal(syscall.SIGKILL)
			}
		})
		if err != nil {
			return ended, remaining, err
		}
		if emptyWalks++; missed == 0 {
			emptyWalks += enoughWalks/2 - 1
		}
		if len(remaining) > 0 {
			emptyWalks = 0
		}
		if force {
			passes++
		}
		if time.Since(begin) > timeout && passes >= reclaimPasses {
			return slices.DeleteFunc(ended, func(p proctable.Proc) bool { return left[p.Identity()] }), remaining, nil
		}
		if pause = min(2*pause, 20*time.Millisecond); emptyWalks > 0 {
			pause = time.Millisecond
		}
		time.Sleep(pause)
	}
	return ended, nil, nil
}
