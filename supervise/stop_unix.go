//go:build linux || darwin

package supervise

import (
	"errors"
	"syscall"
	"time"
)

// endTree ends whatever is left of the tree once the root is gone: SIGTERM, a moment, SIGKILL, until nothing is
// left. Walking until the walk is empty is not enough: a chain that keeps forking slipped through in 2 of 10
// runs. With an owner the end is the kernel's word; without one it is two empty walks.
func (p *Process) endTree() (killed int, left []Proc) {
	begin := time.Now()
	if p.rude {
		begin = begin.Add(-politePause)
	}
	type exactly struct { // a Proc's parent changes when it is orphaned
		pid   int
		start uint64
	}
	seen := map[exactly]bool{}
	pause := time.Millisecond
	for calm := 0; ; {
		left = p.members()
		sig := syscall.SIGKILL
		if time.Since(begin) < politePause {
			sig = syscall.SIGTERM
		}
		for _, q := range left {
			id := exactly{q.PID, q.Start}
			if sig == syscall.SIGTERM && seen[id] {
				continue // asked already
			}
			if err := q.signal(sig); err == nil || errors.Is(err, syscall.EPERM) {
				seen[id] = true
			}
		}
		if calm++; len(left) > 0 {
			calm = 0
		}
		if p.gone(pause, calm) {
			return len(seen), nil
		}
		if time.Since(begin) > killPatience {
			return len(seen) - len(left), left
		}
		pause = min(2*pause, 20*time.Millisecond)
	}
}

// gone reports within d whether the tree has ended. calm is how many walks in a row have found nothing.
func (p *Process) gone(d time.Duration, calm int) bool {
	if p.owner != nil && !p.owner.shared() {
		return p.owner.settled(d)
	}
	if calm >= 2 {
		return true
	}
	time.Sleep(d)
	return false
}

// survivors are the descendants that still run after the root has exited by itself.
func (p *Process) survivors() []Proc {
	// A library does not walk the process table after every run: only if the group is not empty.
	if p.owner == nil && (p.spec.Placement == SharedGroup || syscall.Kill(-p.pid, 0) != nil) {
		return nil
	}
	return p.members()
}

// members are the living processes that belong to the run, the root aside.
func (p *Process) members() []Proc {
	if p.owner != nil {
		return p.owner.descendants(p)
	}
	all, err := processes()
	if err != nil {
		return nil
	}
	var found []Proc
	for _, q := range all {
		ours := q.PGID == p.pid || q.SID == p.pid || p.carries(q)
		if ours && !q.zombie && q.PID != p.pid {
			found = append(found, q)
		}
	}
	return found
}
