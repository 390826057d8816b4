package runrecord

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/supervise/proctable"
)

// reportTimeout is how long ReportKilled waits for processes of a killed run that are about to end: an agent takes two
// seconds to finish its own work.
const reportTimeout = 5 * time.Second

// ReportKilled tells Killed of the runs whose owners are dead, as [Records.Reclaim] does, and ends nothing. It returns
// those that it has told of, and those of which something is left for Reclaim: processes, or a record that could not be
// dealt with.
func (r Records) ReportKilled() (told, left []Record, err error) {
	dead, ids, err := r.dead()
	if err != nil || len(dead) == 0 {
		return nil, nil, err
	}
	var fresh []string // what is on record already is not waited for
	for _, rec := range dead {
		if rec.read() == nil && !rec.Reported && slices.Contains(ids, rec.ID) {
			fresh = append(fresh, rec.ID)
		}
	}
	pause := time.Millisecond // nothing says when the last process of a run has ended, so it is polled
	for begin := time.Now(); len(fresh) > 0 && time.Since(begin) < reportTimeout; pause = min(2*pause, 100*time.Millisecond) {
		alive, err := processesOf(fresh)
		if err != nil {
			return nil, nil, err
		}
		if len(alive) == 0 {
			break
		}
		time.Sleep(pause)
	}
	alive, err := processesOf(ids)
	if err != nil {
		return nil, nil, err
	}
	told, left = r.settle(dead, alive)
	return told, left, nil
}

// Unrecorded returns the processes that killed owners have left whose runs are not on record, which are found by the ids
// of the runs alone ([Records.OwnedID]). It looks at all processes there are.
func (r Records) Unrecorded() (list []proctable.Proc, err error) {
	if err := proctable.Check(); err != nil {
		return nil, err
	}
	recorded, err := r.scan()
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(recorded))
	for i, rec := range recorded {
		ids[i] = rec.ID
	}
	err = proctable.Walk(func(p proctable.Proc) {
		if p.PID != os.Getpid() && p.AbandonedIn(r.Dir) && len(p.Runs(ids)) == 0 {
			list = append(list, p)
		}
	})
	return list, err
}

// dead returns the records of dead owners, and the ids of those that may have left processes. The calling process is
// never a part of one.
func (r Records) dead() (dead []Record, ids []string, err error) {
	found, rows, err := r.scanAll()
	if err == nil && len(found)+len(rows) > 0 {
		err = proctable.Check()
	}
	unfolded := false
	for name, of := range rows {
		if of.Owner.Dead() && err == nil {
			r.unfold(name, of)
			unfolded = true
		}
	}
	if unfolded {
		found, err = r.scan()
	}
	if err != nil {
		return nil, nil, err
	}
	for _, rec := range found {
		if !rec.Owner.Dead() || proctable.Within(rec.ID) {
			continue
		}
		rec.Restarted = rec.Owner.Restarted()
		dead = append(dead, rec)
		if !rec.Restarted { // nothing survives a restart of the system but the file
			ids = append(ids, rec.ID)
		}
	}
	return dead, ids, nil
}

// settle tells of dead owners' runs, and removes the records of those of which no process is left.
func (r Records) settle(dead []Record, alive map[string][]proctable.Proc) (told, left []Record) {
	// A record comes before what was to replace it, which holds nothing more.
	slices.SortStableFunc(dead, func(a, b Record) int { return len(a.path) - len(b.path) })
	seen := map[string]bool{}
	for _, rec := range dead {
		rec.Left = alive[rec.ID]
		rec.dropRequests()
		if seen[rec.ID] {
			os.Remove(rec.path)
			continue
		}
		if r.Killed != nil {
			name := rec.path
			err := rec.claim(r.Dir)
			if _, refused := errors.AsType[*safefile.Error](err); refused {
				os.Remove(rec.path) // no run has written it; what a link leads to stays
				continue
			}
			if err != nil {
				if seen[rec.ID] = errors.Is(err, os.ErrNotExist); !seen[rec.ID] { // else another process has it
					left = append(left, rec)
				}
				continue
			}
			if r.claimedTwice(rec) {
				os.Rename(rec.path, name) // if the other process does not tell of the run, a later one will
				seen[rec.ID] = true
				continue
			}
			if !rec.Reported && r.Killed(rec) {
				rec.Reported = true
				told = append(told, rec)
			}
			if len(rec.Left) > 0 || !rec.Reported { // it is to be found again
				if rec.Reported {
					safefile.WriteOwn(rec.path, rec.encode())
				}
				os.Rename(rec.path, name)
				rec.path = name
			}
		}
		seen[rec.ID] = true
		if len(rec.Left) > 0 || r.Killed != nil && !rec.Reported {
			left = append(left, rec)
			continue
		}
		os.Remove(rec.path)
	}
	return told, left
}

// claim makes the record of a dead owner ours and reads it. Of all processes that try, one succeeds, since a file can be
// renamed only once; if that one is killed, the record is a dead owner's again. It is not listed meanwhile.
func (rec *Record) claim(dir string) error {
	info, err := os.Lstat(rec.path)
	if err == nil {
		err = safefile.CheckOwn(rec.path)
	}
	if err != nil {
		return err
	}
	owner, err := proctable.Self()
	if err != nil {
		return err
	}
	mine := Record{ID: rec.ID, Owner: owner}
	path := filepath.Join(dir, mine.name()+replacement)
	if err := os.Rename(rec.path, path); err != nil {
		return err
	}
	rec.path, rec.Written = path, info.ModTime()
	if err := rec.read(); errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil // what cannot be read says no more than its name
}

// claimedTwice reports whether another living process has claimed a record of the same run. An owner that was killed while it
// replaced its record leaves two files, the record and what was to replace it, and two processes may have taken one each:
// they would both tell of the run. Both look after they have claimed, so that one of them sees the other.
func (r Records) claimedTwice(rec Record) bool {
	found, err := r.scan()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(found, func(other Record) bool {
		if other.ID != rec.ID || other.path == rec.path {
			return false
		}
		return !other.Owner.Dead()
	})
}

// processesOf returns the living processes of runs, by the runs' ids.
func processesOf(ids []string) (map[string][]proctable.Proc, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	alive := map[string][]proctable.Proc{}
	err := proctable.Walk(func(p proctable.Proc) {
		if p.PID == os.Getpid() {
			return
		}
		for _, id := range p.Runs(ids) {
			alive[id] = append(alive[id], p)
		}
	})
	return alive, err
}

// unfold makes files of the rows that a dead owner has left, so that its runs are dealt with like any other. Of all processes that try, one succeeds; if that
// one is killed, the file is a dead owner's again.
func (r Records) unfold(name string, left Record) {
	owner, err := proctable.Self()
	if err != nil {
		return
	}
	mine := Record{ID: left.ID, Owner: owner}
	path := filepath.Join(r.Dir, mine.name()+rowsSuffix)
	if safefile.CheckOwn(filepath.Join(r.Dir, name)) != nil || os.Rename(filepath.Join(r.Dir, name), path) != nil {
		return
	}
	list, err := r.readRows(filepath.Base(path), left.Owner)
	for _, rec := range list {
		if err == nil {
			err = safefile.WriteOwn(rec.path, rec.encode())
		}
	}
	if err == nil {
		os.Remove(path)
	} else {
		os.Rename(path, filepath.Join(r.Dir, name))
	}
}
