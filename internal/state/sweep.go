package state

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/spool"
	"github.com/belay-run/belay/internal/supervise"
)

const (
	// leftoverAge is the age at which a temporary file is no longer in use.
	leftoverAge = time.Hour
	// sweepInterval is how often leftovers are looked for, at most.
	sweepInterval = time.Hour
)

// Sweep removes what killed processes have left, in the state directory and among the system's temporary files. Of all
// processes one does so in an hour: to the others it costs a look at the file that says when that was last.
func (s *State) Sweep() {
	now := time.Now()
	stamp := filepath.Join(s.Dir, ".swept")
	if info, err := os.Lstat(stamp); err == nil && now.Sub(info.ModTime()).Abs() < sweepInterval {
		return
	}
	// The time comes first: of many processes that start together few should sweep.
	if safefile.WriteOwn(stamp, []byte(now.UTC().Format(time.RFC3339)+"\n")) == nil {
		s.sweep(now)
	}
}

// sweep removes leftovers that are old.
func (s *State) sweep(now time.Time) {
	sweepDir(s.Dir, now, removeNameless, "held-", ".doctor-")
	sweepDir(s.sessionDir(), now, removeFile, ".new-")
	sweepDir(s.Gates().Dir, now, removeFile, "*.new")
	sweepDir(s.Alerts().Dir, now, removeFile, "*.new")
	sweepDir(s.Budgets().Dir, now, removeFile, "*.new")
	sweepDir(s.Records().Dir, now, removeFile, supervise.RequestNames()...)
	sweepDir(s.RunCosts().Dir, now, s.removeRunCost, "*.json", "*.new")
	sweepDir(s.Scopes().Dir, now, removeSlot, "*.slot")
	s.Spools().Prune(now.Add(-spool.KeptFor), false)
	tmp := os.TempDir()
	entries, _ := os.ReadDir(tmp)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	sweepNames(tmp, names, now, removeNameless, "belay-held-", "belay-hook-", "belay-alert-")
	sweepNames(tmp, names, now, removeRehearsal, "belay-rehearsal-")
}

// sweepDir calls remove with what is old in a directory of Belay's own and has a name that begins, or after a * ends, like
// one of these.
func sweepDir(dir string, now time.Time, remove func(path string), like ...string) {
	names, _ := safefile.ReadOwnDir(dir)
	sweepNames(dir, names, now, remove, like...)
}

func sweepNames(dir string, names []string, now time.Time, remove func(path string), like ...string) {
	for _, name := range names {
		if !slices.ContainsFunc(like, func(l string) bool {
			if end, is := strings.CutPrefix(l, "*"); is {
				return strings.HasSuffix(name, end)
			}
			return strings.HasPrefix(name, l)
		}) {
			continue
		}
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && now.Sub(info.ModTime()) > leftoverAge {
			remove(path)
		}
	}
}

// removeFile removes a temporary file. What belongs to another user stays, and so does a file that has another name, which
// may be wanted.
func removeFile(path string) {
	if safefile.CheckOwn(path) == nil {
		os.Remove(path)
	}
}

// removeNameless removes a file that was to lose its name as soon as it was made, and is empty if its process was killed before that. Where an
// open file keeps its name, it may hold something.
func removeNameless(path string) {
	if info, err := os.Lstat(path); err == nil && (info.Size() == 0 || runtime.GOOS == "windows") && isNumbered(path) {
		removeFile(path)
	}
}

// isNumbered reports whether a name ends as those do that [os.CreateTemp] makes.
func isNumbered(path string) bool {
	_, err := strconv.ParseUint(path[strings.LastIndexByte(path, '-')+1:], 10, 64)
	return err == nil
}

// removeRunCost removes what a run has cost that is not under way any more.
func (s *State) removeRunCost(path string) {
	id, _, _ := strings.Cut(filepath.Base(path), ".")
	if alive, _ := filepath.Glob(filepath.Join(s.Records().Dir, "*"+id+"*")); len(alive) == 0 {
		removeFile(path)
	}
}

// removeSlot removes the slot of a scope that no process holds, as its holder does: while it is locked. Processes that have
// opened it meanwhile notice that it lost its name.
func removeSlot(path string) {
	f, err := safefile.OpenOwn(path, os.O_RDWR)
	if err != nil {
		return
	}
	defer f.Close()
	if held, err := flock.Try(f, flock.Exclusive); !held || err != nil {
		return
	}
	if flock.Named(f) {
		os.Remove(path)
	}
}

// removeRehearsal removes the directory of a rehearsal, which holds a lock in it for as long as it lasts; see package rehearse. A directory of
// that name without a lock is not known to be one.
func removeRehearsal(dir string) {
	if safefile.CheckOwnDir(dir) != nil || !isNumbered(dir) {
		return
	}
	f, err := safefile.OpenOwn(filepath.Join(dir, ".lock"), os.O_RDWR)
	if err != nil {
		return
	}
	defer f.Close()
	if held, err := flock.Try(f, flock.Exclusive); held && err == nil {
		os.RemoveAll(dir)
	}
}
