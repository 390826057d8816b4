package ceiling

import (
	"cmp"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/supervise/proctable"
)

const (
	// maxLook is how often ceilings are looked at that are far away, nearLook at four fifths of them, and minLook how often at most.
	maxLook  = time.Second
	nearLook = 250 * time.Millisecond
	minLook  = 40 * time.Millisecond
)

// Limits are the ceilings of a tree: how many bytes of memory it may use, and how many must stay free on the file systems that Disks are on. Zero means no such
// limit.
type Limits struct {
	MaxMemory, MinFree int64
	Disks              []string
	// Using, if not nil, is told how much memory the tree uses, at each look. It reports whether the tree is spared though that is more
	// than MaxMemory.
	Using func(bytes int64) (spared bool)
}

// Any reports whether there is a limit.
func (l *Limits) Any() bool { return l.MaxMemory > 0 || l.MinFree > 0 }

// Measure tells how much memory a tree uses now, and each of its processes; what several of them share counts once if the sum comes near the limit.
type Measure func(limit int64) (int64, []proctable.Proc)

// Gauge is what is known of the ceilings of a tree. The zero value knows nothing yet.
type Gauge struct {
	Peak         int64 // the most memory that was seen
	due          time.Time
	memory, disk trend
}

// Look looks at the ceilings if that is due. It returns the one that is passed, if one is, or how long it takes until the next look.
func (g *Gauge) Look(l *Limits, measure Measure, now time.Time) (*Excess, time.Duration) {
	if wait := g.due.Sub(now); wait > 0 {
		return nil, wait
	}
	next := maxLook
	if limit := l.MaxMemory; limit > 0 {
		used, procs := g.measure(l, measure)
		if spared := l.Using != nil && l.Using(used); used > limit && !spared {
			slices.SortFunc(procs, func(a, b proctable.Proc) int { return cmp.Compare(b.Memory, a.Memory) })
			return &Excess{Value: used, Limit: limit, Largest: procs[:min(3, len(procs))]}, 0
		}
		// A look at what is shared takes its time; it takes no more than a twentieth of it, unless that would be too late.
		next = min(next, max(g.memory.next(limit-used, limit/5, now), min(20*time.Since(now), nearLook)))
	}
	if limit := l.MinFree; limit > 0 {
		x := FreeDisk(l.Disks, limit)
		if x.Value < limit {
			return &x, 0
		}
		next = min(next, g.disk.next(x.Value-limit, limit/5, now))
	}
	g.due = now.Add(next)
	return nil, next
}

// measure is how much memory the tree uses now.
func (g *Gauge) measure(l *Limits, measure Measure) (int64, []proctable.Proc) {
	used, procs := measure(l.MaxMemory)
	g.Peak = max(g.Peak, used)
	return used, procs
}

// Beyond reports whether a tree that is being ended for a ceiling must be killed now: a quarter more memory, or half of what must stay free on a disk, is gone.
func (g *Gauge) Beyond(l *Limits, measure Measure) bool {
	if limit := l.MaxMemory; limit > 0 {
		if used, _ := g.measure(l, measure); used > limit+limit/4 {
			return true
		}
	}
	return l.MinFree > 0 && FreeDisk(l.Disks, 0).Value < l.MinFree/2
}

// trend is how fast a ceiling comes nearer.
type trend struct {
	at   time.Time
	left int64
	rate float64 // bytes a second, of which the last steps count most
}

// next is when to look again, with so much left, of which near is little.
func (t *trend) next(left, near int64, now time.Time) time.Duration {
	next := nearLook // nothing is known yet
	if seconds := now.Sub(t.at).Seconds(); !t.at.IsZero() && seconds > 0 {
		t.rate = max(float64(t.left-left)/seconds, t.rate/2)
		if next = maxLook; left < near {
			next = nearLook
		}
	}
	t.at, t.left = now, left
	if t.rate > 0 { // a third of what it takes at this rate: it may grow faster
		next = min(next, time.Duration(min(float64(left)/t.rate/3, maxLook.Seconds())*float64(time.Second)))
	}
	return max(next, minLook)
}
