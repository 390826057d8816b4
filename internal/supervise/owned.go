package supervise

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
)

// ownedID is what an id made by [Records.OwnedID] tells: the process that made it, and the directory of the records.
type ownedID struct {
	dir uint32 // a hash of its name
	pid int
}

const (
	ownedPrefix = "hook-"
	maxOwnedDir = 1<<29 - 1
	maxOwnedPID = 1<<22 - 1 // the most that Linux gives out
)

// OwnedID returns an id that names the calling process as the owner of the run. What a killed owner has left is found by
// the id alone, also if there was no time to write a record, or if that would have cost too much. It is for runs that end
// all that they have started: what is left of one, and whose owner has ended, is taken for what a killed owner has left.
func (r Records) OwnedID() string {
	return fmt.Sprintf("%s%08x-%d-%08x", ownedPrefix, r.hash(), os.Getpid(), rand.Uint32())
}

// hash tells the directory from others: processes of runs that are on record elsewhere are not ours to end.
func (r Records) hash() uint32 {
	h := fnv.New32a()
	h.Write([]byte(r.Dir))
	return h.Sum32() & maxOwnedDir
}

// parseOwnedID takes an id apart that OwnedID has made.
func parseOwnedID(id string) (ownedID, bool) {
	text, ok := strings.CutPrefix(id, ownedPrefix)
	part := strings.Split(text, "-")
	if !ok || len(part) != 3 || len(part[0]) != 8 {
		return ownedID{}, false
	}
	dir, err := strconv.ParseUint(part[0], 16, 32)
	pid, perr := strconv.Atoi(part[1])
	if err != nil || perr != nil || dir > maxOwnedDir || pid < 1 || pid > maxOwnedPID {
		return ownedID{}, false
	}
	return ownedID{dir: uint32(dir), pid: pid}, true
}

// abandoned reports whether a process belongs to a run of an owner that is named by its id, has its records here, and has
// certainly ended.
func (r Records) abandoned(q Proc) bool {
	dir := r.hash()
	dead := func(o ownedID) bool { return o.dir == dir && o.pid != os.Getpid() && o.endedBefore(q) }
	if o, ok := ownedByLimit(q.limitMark()); ok && dead(o) && samePIDSpace(q) {
		return true
	}
	for _, id := range q.markers() {
		if o, ok := parseOwnedID(id); ok && dead(o) && samePIDSpace(q) {
			return true
		}
	}
	return false
}

// endedBefore reports whether the owner of q has ended. A process that has got its pid since is younger than what the owner
// has started.
func (o ownedID) endedBefore(q Proc) bool {
	p, err := process(o.pid)
	if err != nil {
		return errors.Is(err, os.ErrProcessDone)
	}
	return p.zombie || p.Start > q.Start
}
