package supervise

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/belay-run/belay/internal/safefile"
)

// Rows are the records of many short runs of one owner, such as the tasks of a batch: one file, in which each run has a row for as long as it lasts. To make and
// remove a file for each would cost a tenth of what a short command takes. A nil Rows has no room.
type Rows struct {
	dir   string
	owner Owner
	file  *os.File

	mu   sync.Mutex
	free []int64 // offsets
	size int64
}

const (
	// rowsSuffix ends the name of such a file, which else is that of a record.
	rowsSuffix = ".rows"
	// rowSize is how long a row is. A record that is longer gets a file of its own.
	rowSize = 1 << 10
	// maxRows bounds what is read of such a file: as many rows as a batch has tasks at a time at most.
	maxRows = 10_000 * rowSize
)

// CreateRows makes the file of a caller with many runs, whose own run has that id. The directory must exist.
func (r Records) CreateRows(id string) (*Rows, error) {
	owner, err := self()
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
	r.mu.Lock()
	if n := len(r.free); n > 0 {
		rec.offset, r.free = r.free[n-1], r.free[:n-1]
	} else if r.size < maxRows {
		rec.offset = r.size
		r.size += rowSize
	} else {
		r.mu.Unlock()
		return nil, false
	}
	r.mu.Unlock()
	if rec.updateRow() != nil {
		rec.removeRow()
		return nil, false
	}
	return &rec, true
}

// Close removes the file. No run may be under way.
func (r *Rows) Close() error {
	if r == nil {
		return nil
	}
	return errors.Join(r.file.Close(), os.Remove(r.file.Name()))
}

// updateRow writes the record to its row.
func (rec *Record) updateRow() error {
	row := bytes.Repeat([]byte{' '}, rowSize)
	if data := rec.encode(); copy(row, data) < len(data) {
		return errors.New("the record is too long for a row")
	}
	row[rowSize-1] = '\n'
	_, err := rec.rows.file.WriteAt(row, rec.offset)
	return err
}

// removeRow ends the record.
func (rec *Record) removeRow() error {
	_, err := rec.rows.file.WriteAt([]byte{' '}, rec.offset) // without its first brace it is no record
	rec.rows.mu.Lock()
	defer rec.rows.mu.Unlock()
	rec.rows.free = append(rec.rows.free, rec.offset)
	return err
}

// parseRowsName takes the name of a file with rows apart.
func parseRowsName(name string) (Record, bool) {
	base, ok := strings.CutSuffix(name, rowsSuffix)
	if !ok {
		return Record{}, false
	}
	rec, ok := parseName(base)
	return rec, ok && rec.name() == base
}

// readRows returns the records in a file with rows.
func (r Records) readRows(name string, owner Owner) (list []Record, err error) {
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

// unfold makes files of the rows that a dead owner has left, so that its runs are dealt with like any other. Of all processes that try, one succeeds; if that
// one is killed, the file is a dead owner's again.
func (r Records) unfold(name string, left Record) {
	owner, err := self()
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
