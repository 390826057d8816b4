package proctable

import (
	"bytes"
	"errors"
	"hash/fnv"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A process that has wiped its environment has lost the marker, and once its owner is killed nothing else says which run
// it comes from. So a run's processes carry a second mark that they inherit and that no program changes: the soft limit
// of file locks (RLIMIT_LOCKS, "locks" in ulimit -a), which no kernel since 2.4 enforces. The hard limit stays, so that
// the soft one can be set back.
//
// A mark is 12 bits that tell it from a limit that the user has set, one bit that says whether the rest names an owner
// ([OwnedID]), and 51 bits.
const (
	limitMarkPrefix = 0xbe1 << 52
	limitMarkMask   = 0xfff << 52
	limitMarkOwned  = 1 << 51
)

// limitMarkOf is the mark of a run; 0 if it has none.
func limitMarkOf(id string) uint64 {
	if id == "" {
		return 0
	}
	if o, ok := parseOwnedID(id); ok {
		return limitMarkPrefix | limitMarkOwned | uint64(o.dir)<<22 | uint64(o.pid)
	}
	h := fnv.New64a()
	h.Write([]byte(id))
	return limitMarkPrefix | h.Sum64()&(limitMarkOwned-1)
}

// ownedByLimit is the owner that a limit mark names, if it names one.
func ownedByLimit(mark uint64) (ownedID, bool) {
	if mark&(limitMarkMask|limitMarkOwned) != limitMarkPrefix|limitMarkOwned {
		return ownedID{}, false
	}
	return ownedID{dir: uint32(mark>>22) & maxOwnedDir, pid: int(mark & maxOwnedPID)}, true
}

// Vanished reports whether the process has ended since it was looked up.
func (p Proc) Vanished() bool {
	return errors.Is(unix.Prlimit(p.PID, unix.RLIMIT_LOCKS, nil, &unix.Rlimit{}), unix.ESRCH)
}

// limitMark is the mark that the process carries; 0 if it carries none.
func (p Proc) limitMark() uint64 {
	if p.kernel || p.zombie {
		return 0
	}
	var limit unix.Rlimit
	err := unix.Prlimit(p.PID, unix.RLIMIT_LOCKS, nil, &limit)
	if errors.Is(err, unix.EPERM) { // another user's, but anyone may read its limits
		limit.Cur, err = readLimit(p.PID)
	}
	if err != nil || limit.Cur&limitMarkMask != limitMarkPrefix {
		return 0
	}
	return limit.Cur
}

// readLimit reads the soft limit of file locks from the table that the kernel shows.
func readLimit(pid int) (uint64, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	if err != nil {
		return 0, err
	}
	_, after, _ := bytes.Cut(data, []byte("\nMax file locks"))
	if f := bytes.Fields(after); len(f) > 0 {
		return strconv.ParseUint(string(f[0]), 10, 64)
	}
	return 0, nil
}

// MarkByLimit marks the child that is forked between it and the call of done, which gets the child's pid. The child of an owner, whose
// lock is held, inherits the mark, so that not even its first moment is without. A library must not change the
// process that it runs in; it marks the child once it is there. Without the mark all else works: errors do not matter.
func MarkByLimit(runID string, inherit bool) (done func(pid int)) {
	var limit unix.Rlimit
	mark := limitMarkOf(runID)
	if mark == 0 || unix.Getrlimit(unix.RLIMIT_LOCKS, &limit) != nil || limit.Max < mark {
		return func(int) {}
	}
	marked := unix.Rlimit{Cur: mark, Max: limit.Max}
	if !inherit {
		return func(pid int) {
			if pid > 0 {
				unix.Prlimit(pid, unix.RLIMIT_LOCKS, &marked, nil)
			}
		}
	}
	unix.Setrlimit(unix.RLIMIT_LOCKS, &marked)
	return func(int) { unix.Setrlimit(unix.RLIMIT_LOCKS, &limit) }
}

// Unmark takes the mark of a run from a process that does not belong to it.
func Unmark(pid int) {
	var limit unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &limit) == nil && limit.Cur&limitMarkMask == limitMarkPrefix {
		limit.Cur = limit.Max
		unix.Prlimit(pid, unix.RLIMIT_LOCKS, &limit, nil)
	}
}
