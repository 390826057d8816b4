package supervise

import (
	"os"
	"syscall"
	"time"
)

// Reclaim ends what dead owners have left: processes that carry the marker of a run whose owner (pid, start time,
// boot) is no more. It never goes by name, and never touches the run of a living owner. It returns the processes
// it has ended. When there is nothing to reclaim it costs one look into a directory.
func (r Records) Reclaim() ([]Proc, error) {
	found, err := r.scan()
	if err != nil {
		return nil, err
	}
	me := os.Getpid()
	var dead []Record
	for _, rec := range found {
		if rec.Owner.PID != me && !rec.Owner.Alive() {
			dead = append(dead, rec)
		}
	}
	var ended []Proc
	for _, rec := range dead {
		// Nothing survives a restart of the system but the file.
		if rec.Owner.Boot == bootID() {
			procs, ok := endMarked(rec.ID)
			ended = append(ended, procs...)
			if !ok {
				continue // the next one shall try again
			}
		}
		os.Remove(rec.path)
	}
	return ended, nil
}

// endMarked ends every process that carries the marker, and those that they start meanwhile. It reports false if
// some would not go.
func endMarked(id string) (ended []Proc, ok bool) {
	begin := time.Now()
	asked := map[int]bool{}
	pause := time.Millisecond
	for calm := 0; calm < 2; {
		all, err := processes()
		if err != nil {
			return ended, false
		}
		calm++
		for _, p := range all {
			if p.zombie || p.PID == os.Getpid() || !p.carries(id) {
				continue
			}
			calm = 0
			if !asked[p.PID] {
				asked[p.PID] = true
				ended = append(ended, p)
				p.signal(syscall.SIGTERM)
			} else if time.Since(begin) > politePause {
				p.signal(syscall.SIGKILL)
			}
		}
		if time.Since(begin) > killPatience {
			return ended, false
		}
		time.Sleep(pause)
		pause = min(2*pause, 20*time.Millisecond)
	}
	return ended, true
}
