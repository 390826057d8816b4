package runrecord

import (
	"bytes"
	"errors"
	"os"
	"sync"

	"github.com/belay-run/belay/internal/supervise/proctable"
)

// Rows are the records of many short runs of one owner, such as the tasks of a batch: one file, in which each run has a row for as long as it lasts. To make and
// remove a file for each would cost a tenth of what a short command takes. A nil Rows has no room.
type Rows struct {
	dir   string
	owner proctable.Owner
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

// Close removes the file. No run may be under way.
func (r *Rows) Close() error {
	if r == nil {
		return nil
	}
	return errors.Join(r.file.Close(), os.Remove(r.file.Name()))
}

// take is the offset of a row that is free; ok is false if there is no room.
func (r *Rows) take() (offset int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.free); n > 0 {
		offset, r.free = r.free[n-1], r.free[:n-1]
		return offset, true
	}
	if r.size >= maxRows {
		return 0, false
	}
	offset = r.size
	r.size += rowSize
	return offset, true
}

// write writes a record to its row.
func (r *Rows) write(offset int64, record []byte) error {
	row := bytes.Repeat([]byte{' '}, rowSize)
	if copy(row, record) < len(record) {
		return errors.New("the record is too long for a row")
	}
	row[rowSize-1] = '\n'
	_, err := r.file.WriteAt(row, offset)
	return err
}

// clear ends the record in a row, which is free then.
func (r *Rows) clear(offset int64) error {
	_, err := r.file.WriteAt([]byte{' '}, offset) // without its first brace it is no record
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free = append(r.free, offset)
	return err
}
