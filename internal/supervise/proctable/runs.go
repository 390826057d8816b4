package proctable

import (
	"errors"
	"os"
	"slices"
	"strings"
)

// What a run starts beside its command has an id of its own within the run, which is the run's with such an ending, so that it can be ended alone.
const (
	CheckPart = "-check" // of what a result is accepted by
	SetupPart = "-setup" // of what prepares a tree
)

// isOf reports whether the limit of a process marks it as one of a run, or of what the run starts beside its command.
func isOf(limit uint64, id string) bool {
	return limit != 0 && (limit == limitMarkOf(id) || limit == limitMarkOf(id+CheckPart) || limit == limitMarkOf(id+SetupPart))
}

// Runs returns those of the given runs that the process belongs to: by its environment, or where that was wiped by its
// limit ([limitMarkOf]), which names only the innermost one.
func (p Proc) Runs(ids []string) (found []string) {
	limit := p.limitMark()
	for _, id := range ids {
		if isOf(limit, id) {
			if found = append(found, id); len(ids) == 1 {
				return found
			}
		}
	}
	for _, id := range p.markers() {
		if slices.Contains(ids, id) && !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	return found
}

// Within reports whether this process is itself a part of a run.
func Within(id string) bool {
	limit := Proc{PID: os.Getpid()}.limitMark()
	return isOf(limit, id) || slices.Contains(strings.Split(os.Getenv(RunIDVar), ","), id)
}

// AbandonedIn reports whether the process belongs to a run whose owner is named by its id ([OwnedID]), has its records in that directory, and
// has certainly ended.
func (p Proc) AbandonedIn(dir string) bool {
	hash := hashOf(dir)
	dead := func(o ownedID) bool { return o.dir == hash && o.pid != os.Getpid() && o.endedBefore(p) }
	if o, ok := ownedByLimit(p.limitMark()); ok && dead(o) && samePIDSpace(p) {
		return true
	}
	for _, id := range p.markers() {
		if o, ok := parseOwnedID(id); ok && dead(o) && samePIDSpace(p) {
			return true
		}
	}
	return false
}

// endedBefore reports whether the owner of q has ended. A process that has got its pid since is younger than what the owner
// has started.
func (o ownedID) endedBefore(q Proc) bool {
	p, err := Find(o.pid)
	if err != nil {
		return errors.Is(err, os.ErrProcessDone)
	}
	return p.zombie || p.Start > q.Start
}
