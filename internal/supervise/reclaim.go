package supervise

import (
	"os"
	"slices"
	"syscall"
	"time"
)

// reclaimPatience is how long a start tries to end what another one has left: not long, because it has work to do, and
// the next one will try again.
const reclaimPatience = 3 * time.Second

// reclaimPasses is how often it tries at least to kill it: on a machine that is overloaded seconds say little, and one look
// at all processes can take that long.
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
	ended, stubborn := endMarked(ids, reclaimPatience)
	r.settle(dead, stubborn)
	return ended, nil
}

// endMarked ends every process that carries one of the markers, and those that they start meanwhile. It returns the
// markers of those that would not go.
func endMarked(ids []string, patience time.Duration) (ended []Proc, stubborn []string) {
	if len(ids) == 0 {
		return nil, nil
	}
	begin := time.Now()
	asked := map[identity]bool{}
	pause := time.Millisecond
	passes := 0
	for calm := 0; calm < 2; {
		rude := time.Since(begin) > politePause
		left := map[identity]bool{}
		stubborn = nil
		err := walk(func(p Proc) {
			if p.PID == os.Getpid() {
				return
			}
			carried := slices.DeleteFunc(p.markers(), func(id string) bool { return !slices.Contains(ids, id) })
			if len(carried) == 0 {
				return
			}
			stubborn = append(stubborn, carried...)
			id := p.identity()
			left[id] = true
			if !asked[id] {
				asked[id] = true
				ended = append(ended, p)
				p.signal(syscall.SIGTERM)
			} else if rude {
				p.signal(syscall.SIGKILL)
			}
		})
		if err != nil {
			return ended, ids
		}
		if calm++; len(stubborn) > 0 {
			calm = 0
		}
		if rude {
			passes++
		}
		if time.Since(begin) > patience && passes >= reclaimPasses {
			return slices.DeleteFunc(ended, func(p Proc) bool { return left[p.identity()] }), stubborn
		}
		time.Sleep(pause)
		pause = min(2*pause, 20*time.Millisecond)
	}
	return ended, nil
}
