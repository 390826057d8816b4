package supervise

import (
	"os"
	"slices"
	"syscall"
	"time"
)

// reclaimTimeout is how long a start tries to end what another one has left: not long, because it has work to do, and
// the next one will try again.
const reclaimTimeout = 3 * time.Second

// reclaimPasses is how often it tries at least to kill it: on an overloaded machine one look at all processes can take
// all of that time.
const reclaimPasses = 2

// Reclaim ends what dead owners have left: processes that carry the marker of a run whose owner (pid, start time,
// boot) is no more. It never goes by name, and never touches the run of a living owner, nor one that the calling
// process is itself a part of. It returns the processes it has ended. When there is nothing to reclaim it costs one look
// into a directory.
func (r Records) Reclaim() ([]Proc, error) {
	dead, ids, err := r.dead()
	if err != nil {
		return nil, err
	}
	ended, remaining := endMarked(ids, reclaimTimeout)
	r.settle(dead, remaining)
	return ended, nil
}

// endMarked ends every process that carries one of the markers, and those that they start meanwhile. It returns the
// markers of those that could not be ended.
func endMarked(ids []string, timeout time.Duration) (ended []Proc, remaining []string) {
	if len(ids) == 0 {
		return nil, nil
	}
	begin := time.Now()
	asked := map[identity]bool{}
	pause := time.Millisecond
	passes := 0
	for emptyWalks := 0; emptyWalks < 2; {
		force := time.Since(begin) > politePause
		left := map[identity]bool{}
		remaining = nil
		err := walk(func(p Proc) {
			if p.PID == os.Getpid() {
				return
			}
			carried := slices.DeleteFunc(p.markers(), func(id string) bool { return !slices.Contains(ids, id) })
			if len(carried) == 0 {
				return
			}
			remaining = append(remaining, carried...)
			id := p.identity()
			left[id] = true
			if !asked[id] {
				asked[id] = true
				ended = append(ended, p)
				p.signal(syscall.SIGTERM)
			} else if force {
				p.signal(syscall.SIGKILL)
			}
		})
		if err != nil {
			return ended, ids
		}
		if emptyWalks++; len(remaining) > 0 {
			emptyWalks = 0
		}
		if force {
			passes++
		}
		if time.Since(begin) > timeout && passes >= reclaimPasses {
			return slices.DeleteFunc(ended, func(p Proc) bool { return left[p.identity()] }), remaining
		}
		time.Sleep(pause)
		pause = min(2*pause, 20*time.Millisecond)
	}
	return ended, nil
}
