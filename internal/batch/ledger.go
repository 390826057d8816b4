package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/belay-run/belay/internal/batch/marked"
	"github.com/belay-run/belay/internal/message"
)

// Ledger is the file of results: one line a task as it ends, in the order in which they end. It is only ever appended to, but for a last
// line that was torn.
type Ledger struct {
	path    string
	file    *os.File
	journal *journal
	// Torn is the number of bytes of a last line that was not written to its end, and was cut.
	Torn int64
	// Damaged counts lines that are no results.
	Damaged int
	// Spent is what the results so far have cost, and the tasks that were interrupted.
	Spent float64
	// Notice is told what another program has done to the results meanwhile; nil if that is of no use.
	Notice func(string)
	// underWay are the tasks that were when the batch before was ended, by id.
	underWay map[string]interrupted

	mu      sync.Mutex
	size    int64 // the end of the last whole line
	dirty   bool
	broken  error // why nothing can be written any more
	changed bool  // another program has written to the file: what it held may be lost
	done    chan struct{}
	synced  sync.WaitGroup

	outputs map[[2]string]Hash // by task and file, see outputOf
}

// Interrupted is how many tasks were running when the batch before ended.
func (l *Ledger) Interrupted() int { return len(l.underWay) }

// IsNew reports whether there are no results yet.
func (l *Ledger) IsNew() bool { return l.offset() == 0 }

// note puts a note into the journal; no ledger has none.
func (l *Ledger) note(n note) {
	if l != nil {
		l.journal.note(n)
	}
}

// openResults opens a file of results, which it may create. A file of another kind is not ours to append to, let alone to cut.
func openResults(path string) (f *os.File, created bool, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, false, fmt.Errorf("%s is not a regular file", path)
	}
	if f, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		return f, true, nil
	}
	if f, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
		return nil, false, err
	}
	if !isLedger(f, marked.Is(path+journalSuffix, journalMark)) {
		f.Close()
		return nil, false, errors.New(message.BatchNotResults())
	}
	return f, false, nil
}

// isNull reports whether a path is the null device, which takes results and keeps none.
func isNull(path string) bool {
	info, err := os.Stat(path)
	null, nerr := os.Stat(os.DevNull)
	return err == nil && nerr == nil && os.SameFile(info, null)
}

// read reads all results, and mends the end of the file.
func (l *Ledger) read(each func(offset int64, line []byte, r parsed)) error {
	damaged, tail, err := scan(l.file, each)
	l.Damaged += damaged
	if err != nil {
		return err
	}
	if l.size, err = l.file.Seek(0, io.SeekEnd); err != nil || len(tail) == 0 {
		return err
	}
	begin := l.size - int64(len(tail))
	r, ok := parseRecord(tail)
	switch {
	case ok && json.Valid(tail): // only the end of the line is missing: an editor left it out
		each(begin, tail, r)
	case isTorn(tail):
		l.Torn, l.size = int64(len(tail)), begin
		return l.file.Truncate(begin)
	case len(bytes.TrimSpace(tail)) > 0:
		l.Damaged++
	}
	n, err := l.file.Write([]byte("\n"))
	l.size += int64(n)
	return err
}
