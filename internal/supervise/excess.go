package supervise

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Excess is what a tree had too much of when it was ended for that.
type Excess struct {
	Disk    string // that has less free than it must have; empty if it was memory
	Value   int64  // bytes that were used, or free
	Limit   int64
	Largest []Proc // of memory: the processes that used most, at most three
}

// Names are the largest processes, in words that are made of the name of each and what it uses; 0 where the system does not tell.
func (x *Excess) Names(say func(name string, bytes int64) string) string {
	var list []string
	for _, q := range x.Largest {
		list = append(list, say(q.String(), q.Memory))
	}
	return strings.Join(list, ", ")
}

// FreeDisk is how many bytes are free on the fullest of the disks that can be asked, beside how many must be.
func FreeDisk(disks []string, limit int64) Excess {
	x := Excess{Value: math.MaxInt64, Limit: limit}
	for _, disk := range disks {
		if free, err := freeSpace(disk); err == nil && free < x.Value {
			x.Value, x.Disk = free, disk
		}
	}
	return x
}

const (
	// maxLook is how often ceilings are looked at that are far away, nearLook at four fifths of them, and minLook how often at most.
	maxLook  = time.Second
	nearLook = 250 * time.Millisecond
	minLook  = 40 * time.Millisecond
	// hasteSteps are the steps in which a tree is ended that is above a ceiling, of haste each: what it takes too much of grows meanwhile.
	hasteSteps = 8
	haste      = 75 * time.Millisecond
)

// gauge is what the watch knows of the ceilings of a tree.
type gauge struct {
	meter
	due          time.Time
	peak         int64 // the most memory that was seen
	memory, disk trend
}

func (s *Spec) hasCeiling() bool { return s.MaxMemory > 0 || s.MinFree > 0 }

// lookUp looks at the ceilings if that is due. It returns the one that is passed, if one is, or how long it takes until the next look.
func (p *Process) lookUp(now time.Time) (*Excess, time.Duration) {
	g := &p.watch.gauge
	if wait := g.due.Sub(now); wait > 0 {
		return nil, wait
	}
	next := maxLook
	if limit := p.spec.MaxMemory; limit > 0 {
		used, procs := p.measure()
		if spared := p.spec.Using != nil && p.spec.Using(used); used > limit && !spared {
			slices.SortFunc(procs, func(a, b Proc) int { return cmp.Compare(b.Memory, a.Memory) })
			return &Excess{Value: used, Limit: limit, Largest: procs[:min(3, len(procs))]}, 0
		}
		// A look at what is shared takes its time; it takes no more than a twentieth of it, unless that would be too late.
		next = min(next, max(g.memory.next(limit-used, limit/5, now), min(20*time.Since(now), nearLook)))
	}
	if limit := p.spec.MinFree; limit > 0 {
		x := FreeDisk(p.spec.Disks, limit)
		if x.Value < limit {
			return &x, 0
		}
		next = min(next, g.disk.next(x.Value-limit, limit/5, now))
	}
	g.due = now.Add(next)
	return nil, next
}

// measure is how much memory the tree uses now.
func (p *Process) measure() (int64, []Proc) {
	used, procs := p.memory(p.spec.MaxMemory / 5 * 4)
	p.watch.gauge.peak = max(p.watch.gauge.peak, used)
	return used, procs
}

// beyond reports whether a tree that is being ended for a ceiling must be killed now: a quarter more memory, or half of what must stay free on a disk, is gone.
func (p *Process) beyond() bool {
	if limit := p.spec.MaxMemory; limit > 0 {
		if used, _ := p.measure(); used > limit+limit/4 {
			return true
		}
	}
	return p.spec.MinFree > 0 && FreeDisk(p.spec.Disks, 0).Value < p.spec.MinFree/2
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

// inHaste is the ladder in short steps.
func (l Ladder) inHaste() (steps Ladder) {
	for _, rung := range l {
		steps = append(steps, Rung{rung.Signal, haste})
		for range hasteSteps/len(l) - 1 {
			steps = append(steps, Rung{0, haste})
		}
	}
	return steps
}
