package proctable

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
)

// ownedID is what an id made by [OwnedID] tells: the process that made it, and the directory with the records of its runs.
type ownedID struct {
	dir uint32 // a hash of its name
	pid int
}

const (
	ownedPrefix = "hook-"
	maxOwnedDir = 1<<29 - 1
	maxOwnedPID = 1<<22 - 1 // the most that Linux gives out
)

// OwnedID returns an id of a run that names the calling process as its owner, and the directory that has the owner's records.
func OwnedID(dir string) string {
	return fmt.Sprintf("%s%08x-%d-%08x", ownedPrefix, hashOf(dir), os.Getpid(), rand.Uint32())
}

// hashOf tells a directory of records from others: processes of runs that are on record elsewhere are not ours to end.
func hashOf(dir string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(dir))
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
