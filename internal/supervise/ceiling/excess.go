// Package ceiling watches how much memory a tree of processes uses, and how much is free on the disks that it writes to.
//
// A [Gauge] looks at what has a limit: each second while it is far from it, and the sooner the faster it comes nearer, but at most 25 times a second. What grows
// faster than that is seen when it is above the limit already; how far above, [Gauge.Beyond] tells while the tree is being ended.
// The memory is measured by the caller, who knows the tree. A disk that cannot be asked, or does not tell, has no limit.
package ceiling

import (
	"math"
	"strings"

	"github.com/belay-run/belay/internal/supervise/proctable"
)

// Excess is what a tree had too much of when it was ended for that.
type Excess struct {
	Disk    string // that has less free than it must have; empty if it was memory
	Value   int64  // bytes that were used, or free
	Limit   int64
	Largest []proctable.Proc // of memory: the processes that used most, at most three
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
