package supervise

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Excess is what a tree had too much of when it was ended for that.
type Excess struct {
	Disk    string // that has less free than it must have; empty if it was memory
	Value   int64  // bytes that were used, or free
	Limit   int64
	Largest []Use // of memory: the processes that used most, at most three
}

// Use is how much memory a process uses, in bytes.
type Use struct {
	Proc
	Memory int64
}

// Names are the largest processes, in words that are made of the name of each and what it uses; 0 where the system does not tell.
func (x *Excess) Names(say func(name string, bytes int64) string) string {
	var list []string
	for _, u := range x.Largest {
		list = append(list, say(u.Proc.String(), u.Memory))
	}
	return strings.Join(list, ", ")
}

// LowDisk says which of the disks has less free than must stay free; nil if none has.
func LowDisk(disks []string, free int64) *Excess {
	if left, path := leastFree(disks); path != "" && left < free {
		return &Excess{Disk: path, Value: left, Limit: free}
	}
	return nil
}

// leastFree is how many bytes are free on the fullest of the disks that can be asked; path is empty if none can.
func leastFree(disks []string) (left int64, path string) {
	for _, disk := range disks {
		if free, err := freeSpace(disk); err == nil && (path == "" || free < left) {
			left, path = free, disk
		}
	}
	return left, path
}

const (
	// maxLook is how often ceilings are looked at that are far away, nearLook at four fifths of them, and minLook how often at most.
	maxLook  = time.Second
	nearLook = 250 * time.Millisecond
	minLook  = 40 * time.Millisecond
	// excessGrace is how long the ladder of a tree may take that is ended for a ceiling: what it takes too much of grows meanwhile.
	excessGrace = 600 * time.Millisecond
)

// gauge watches the ceilings of a tree. It belongs to the goroutine of the watch.
type gauge struct {
	p      *Process
	meter  meter
	due    time.Time
	told   time.Time // when Spec.Using was called last
	peak   int64     // the most memory that was seen
	memory trend
	disk   trend
}

// newGauge is nil if there is no ceiling.
func newGauge(p *Process) *gauge {
	if p.spec.MaxMemory <= 0 && p.spec.MinFree <= 0 {
		return nil
	}
	return &gauge{p: p, meter: meter{p: p}}
}

// look looks at the ceilings if that is due. It returns the one that is passed, if one is, or how long it takes until the next look.
func (g *gauge) look(now time.Time) (*Excess, time.Duration) {
	if wait := g.due.Sub(now); wait > 0 {
		return nil, wait
	}
	next := maxLook
	if limit := g.p.spec.MaxMemory; limit > 0 {
		used, uses := g.measure()
		if used > limit {
			g.meter.forget() // what has got the pid of a process that has ended may have been counted
			used, uses = g.measure()
		}
		if tell := g.p.spec.Using; tell != nil && now.Sub(g.told) >= maxLook {
			g.told = now
			tell(used)
		}
		if used > limit {
			slices.SortFunc(uses, func(a, b Use) int { return cmp.Compare(b.Memory, a.Memory) })
			x := Excess{Value: used, Limit: limit, Largest: uses[:min(3, len(uses))]}
			if g.p.spec.Over == nil {
				return &x, 0
			}
			g.p.spec.Over(x)
		}
		// A look at what is shared takes its time; it takes no more than a twentieth of it, unless that would be too late.
		next = min(next, max(g.memory.next(limit-used, limit/5, now), min(20*time.Since(now), nearLook)))
	}
	if limit := g.p.spec.MinFree; limit > 0 {
		if x := LowDisk(g.p.spec.Disks, limit); x != nil {
			return x, 0
		}
		free, _ := leastFree(g.p.spec.Disks)
		next = min(next, g.disk.next(free-limit, limit/5, now))
	}
	g.due = now.Add(next)
	return nil, next
}

// measure is how much memory the tree uses now.
func (g *gauge) measure() (int64, []Use) {
	used, uses := g.meter.read(g.p.spec.MaxMemory / 5 * 4)
	g.peak = max(g.peak, used)
	return used, uses
}

// beyond reports whether a tree that is being ended for a ceiling must be killed now: a quarter more memory, or half of what must stay free on a disk, is gone.
func (g *gauge) beyond() bool {
	if limit := g.p.spec.MaxMemory; limit > 0 {
		if used, _ := g.measure(); used > limit+limit/4 {
			return true
		}
	}
	return g.p.spec.MinFree > 0 && LowDisk(g.p.spec.Disks, g.p.spec.MinFree/2) != nil
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

// within is the ladder in so short a time, at most.
func (l Ladder) within(most time.Duration) Ladder {
	var all time.Duration
	for _, rung := range l {
		all += rung.Wait
	}
	if all <= most {
		return l
	}
	short := slices.Clone(l)
	for i := range short {
		short[i].Wait = time.Duration(float64(short[i].Wait) / float64(all) * float64(most))
	}
	return short
}
