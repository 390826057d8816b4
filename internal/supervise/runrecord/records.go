package runrecord

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/supervise/proctable"
)

// Records is a directory with one small file for each run under way. The name of the file says whose it is, so
// that a start which finds the runs of others need not read them:
//
//	<boot>.<pid>.<start>.<id>
//
// boot, pid and start name the owner, the process that supervises, for good: a pid alone is reused.
type Records struct {
	Dir string
	// Killed, if not nil, is called for each run whose owner is found dead, before its record is removed; in one process,
	// if several find it at the same time. If it returns false, the record stays for the next one to find.
	Killed func(Record) bool
}

// Create writes the record of a run that begins. The directory must exist.
func (r Records) Create(rec Record) (*Record, error) {
	var err error
	if rec.Owner, err = proctable.Self(); err != nil {
		return nil, err
	}
	rec.State = StateRunning
	if again, ok := parseName(rec.name()); !ok || again.ID != rec.ID {
		return nil, fmt.Errorf("%q cannot be the id of a run", rec.ID)
	}
	rec.path = filepath.Join(r.Dir, rec.name())
	f, err := safefile.CreateOwn(rec.path)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(rec.encode())
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(rec.path)
		return nil, err
	}
	return &rec, nil
}

// OwnedID returns an id that names the calling process as the owner of the run. What a killed owner has left is found by
// the id alone, also if there was no time to write a record, or if that would have cost too much. It is for runs that end
// all that they have started: what is left of one, and whose owner has ended, is taken for what a killed owner has left.
func (r Records) OwnedID() string { return proctable.OwnedID(r.Dir) }

// CreateRows makes the file of a caller with many runs, whose own run has that id. The directory must exist.
func (r Records) CreateRows(id string) (*Rows, error) {
	owner, err := proctable.Self()
	if err != nil {
		return nil, err
	}
	rec := Record{ID: id, Owner: owner}
	f, err := safefile.CreateOwn(filepath.Join(r.Dir, rec.name()+rowsSuffix))
	if err != nil {
		return nil, err
	}
	return &Rows{dir: r.Dir, owner: owner, file: f}, nil
}

// Create writes the record of a run that begins. ok is false if it has no room: then it needs a file of its own.
func (r *Rows) Create(rec Record) (made *Record, ok bool) {
	if r == nil {
		return nil, false
	}
	rec.Owner, rec.State, rec.rows = r.owner, StateRunning, r
	rec.path = filepath.Join(r.dir, rec.name())
	if rec.offset, ok = r.take(); !ok {
		return nil, false
	}
	if r.write(rec.offset, rec.encode()) != nil {
		r.clear(rec.offset)
		return nil, false
	}
	return &rec, true
}

// Update replaces the record by what rec says now. Readers see the old one or the new one, never half of either.
// A nil record is left alone.
//
// The temporary file has the name of the record with a suffix, not a random one: only the owner writes it, and what an owner
// leaves that is killed meanwhile is known by that name and removed with the record.
func (rec *Record) Update() error {
	switch {
	case rec == nil:
		return nil
	case rec.rows != nil:
		return rec.rows.write(rec.offset, rec.encode())
	}
	return atomicfile.WriteVia(rec.path+replacement, rec.path, rec.encode())
}

// Touch leaves a sign of life: if the owner is killed, the run is known to have lasted until then.
func (rec *Record) Touch() error {
	if rec == nil {
		return nil
	}
	now := time.Now()
	return os.Chtimes(rec.path, now, now)
}

// Remove ends the record.
func (rec *Record) Remove() error {
	if rec == nil {
		return nil
	}
	var err error
	if rec.rows != nil {
		err = rec.rows.clear(rec.offset)
	} else {
		err = os.Remove(rec.path)
	}
	if rec.asked {
		rec.dropRequests() // in this order, see RequestStop
	}
	return err
}

// List returns the runs of living owners, oldest first.
func (r Records) List() ([]Record, error) {
	owned, rows, err := r.scanAll()
	if err == nil && len(owned)+len(rows) > 0 {
		err = proctable.Check()
	}
	if err != nil {
		return nil, err
	}
	var list []Record
	for name, of := range rows {
		if of.Owner.Alive() {
			more, _ := r.readRows(name, of.Owner) // else it has just ended
			list = append(list, more...)
		}
	}
	for _, rec := range owned {
		if strings.HasSuffix(rec.path, replacement) || !rec.Owner.Alive() {
			continue
		}
		if rec.read() != nil {
			continue // it has just ended
		}
		if rec.State == "" {
			rec.State = StateRunning // caught while it was being written
		}
		list = append(list, rec)
	}
	slices.SortFunc(list, func(a, b Record) int {
		return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.ID, b.ID))
	})
	return list, nil
}

// read reads what is in the file. One that is torn, or is about another run, says nothing.
func (rec *Record) read() error {
	data, err := safefile.ReadOwn(rec.path, maxRecord)
	if err != nil {
		return err
	}
	read := *rec
	if json.Unmarshal(data, &read) == nil && read.ID == rec.ID {
		*rec = read
	}
	return nil
}

// scan reads the names in the directory.
func (r Records) scan() ([]Record, error) {
	found, _, err := r.scanAll()
	return found, err
}

// scanAll also returns the files with rows, by their names: whose they are.
func (r Records) scanAll() (found []Record, rows map[string]Record, err error) {
	names, err := safefile.ReadOwnDir(r.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if rec, ok := parseName(name); ok {
			rec.path = filepath.Join(r.Dir, name)
			found = append(found, rec)
		} else if rec, ok := parseRowsName(name); ok {
			if rows == nil {
				rows = map[string]Record{}
			}
			rows[name] = rec
		}
	}
	return found, rows, nil
}

// readRows returns the records in a file with rows.
func (r Records) readRows(name string, owner proctable.Owner) (list []Record, err error) {
	data, err := safefile.ReadOwn(filepath.Join(r.Dir, name), maxRows)
	if err != nil {
		return nil, err
	}
	for row := range bytes.Lines(data) {
		rec := Record{}
		if !bytes.HasPrefix(row, []byte("{")) || json.Unmarshal(row, &rec) != nil {
			continue // it is over, or is being written
		}
		rec.Owner = owner
		if again, ok := parseName(rec.name()); ok && again.ID == rec.ID {
			rec.path = filepath.Join(r.Dir, rec.name())
			list = append(list, rec)
		}
	}
	return list, nil
}
