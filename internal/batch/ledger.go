package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
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

// note puts a note into the journal; no ledger has none.
func (l *Ledger) note(n note) {
	if l != nil {
		l.journal.note(n)
	}
}

// SyncInterval is how long a result may be only in the memory of the system.
const SyncInterval = time.Second

// OpenLedger opens the results at path, or begins them. The error is an [*InUse] if another batch has them.
func OpenLedger(path string, tasks string) (*Ledger, error) {
	if isNull(path) {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		return &Ledger{path: path, file: file, journal: &journal{said: notes{underWay: map[string]interrupted{}}}, done: make(chan struct{})}, err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the journal is beside the file itself, whatever link leads to it
	}
	// The file first: where it cannot be written, no journal must be left beside it.
	file, created, err := openResults(path)
	if err != nil {
		return nil, err
	}
	var j *journal
	var underWay map[string]interrupted
	if !claim(file) {
		err = &InUse{Path: path, Holder: readHolder(path)}
	} else if j, underWay, err = openJournal(path+journalSuffix, tasks); err == nil {
		return &Ledger{path: path, file: file, journal: j, underWay: underWay, done: make(chan struct{})}, nil
	}
	if _, isUsed := errors.AsType[*InUse](err); created && !isUsed {
		os.Remove(path)
	}
	file.Close()
	return nil, err
}

// readHolder is the batch that has the results, if it has them by this name.
func readHolder(path string) Holder {
	notes, live := readLive(path + journalSuffix)
	if !live {
		return Holder{}
	}
	return notes.holder
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
	if !isLedger(f, isMarked(path+journalSuffix, journalMark)) {
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

// Load tells the plan which of its tasks have ended, cuts a torn line, and gets ready to append.
func (l *Ledger) Load(p *Plan) error {
	earlier := map[uint32]bool{} // tasks whose last result is of what they said in between
	err := l.read(func(offset int64, _ []byte, r parsed) {
		l.Spent += r.cost
		if begun, ok := l.underWay[r.task]; ok && offset >= begun.offset {
			delete(l.underWay, r.task) // it ended; only the note of that was not written
			l.note(endOf(r.task))
		}
		if p.streamed && r.state != Skipped {
			p.past[r.task] = entry{r.hash, r.state}
		}
		if n, ok := p.ended(r); ok {
			delete(earlier, n)
		} else if n, ok := p.find(r.task); ok && *p.state(n) != Waiting {
			earlier[n] = true
		}
	})
	if err == nil {
		err = l.recall(p, earlier)
	}
	if err != nil {
		return err
	}
	for _, was := range l.underWay {
		l.Spent += was.paid
	}
	l.synced.Go(l.sync)
	return nil
}

// recall appends results again that are no longer the last of their tasks, though they are those of what the tasks say now: the last
// one is the one that counts for readers. They have cost nothing this time.
func (l *Ledger) recall(p *Plan, earlier map[uint32]bool) error {
	if len(earlier) == 0 {
		return nil
	}
	lines := map[uint32][]byte{}
	if _, _, err := scan(l.file, func(_ int64, line []byte, r parsed) {
		if n, ok := p.find(r.task); ok && earlier[n] && p.tasks[n].hash == r.hash && *p.state(n) == r.state {
			lines[n] = bytes.Clone(line)
		}
	}); err != nil {
		return err
	}
	var all []byte
	for _, n := range slices.Sorted(maps.Keys(lines)) {
		all = append(append(all, withoutCost(lines[n])...), '\n')
	}
	written, err := l.file.Write(all)
	if err != nil {
		l.file.Truncate(l.size)
		return err
	}
	l.size += int64(written)
	return nil
}

// Peek tells the plan which of its tasks have ended, and changes nothing.
func Peek(path string, p *Plan) error {
	if isNull(path) {
		return nil
	}
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, _, err = scan(f, func(_ int64, _ []byte, r parsed) { p.ended(r) })
	return err
}

// ended takes a result that is there already into the plan. It reports whether it is that of a task as it is now.
func (p *Plan) ended(r parsed) (n uint32, ok bool) {
	if n, ok = p.find(r.task); !ok || p.tasks[n].hash != r.hash || r.state == Skipped {
		return n, false
	}
	*p.state(n) = r.state
	return n, true
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

// Append writes the line of a task that has ended. body writes the result of its run; nil if there was none. The line is made before others
// have to wait for it, unless it is very long.
func (l *Ledger) Append(r *Record, body func(io.Writer) error) error {
	begin, err := r.encode()
	line := lineWriter{ledger: l, buf: begin}
	if err == nil && body != nil {
		line.buf = append(line.buf, ',')
		err = body(&withoutBrace{w: &line})
	}
	line.buf = append(bytes.TrimSuffix(line.buf, []byte(lineEnd)), endKey+`"`+r.Hash+`"`+lineEnd...)
	return line.end(err)
}

// lineEnd is how a line ends.
const lineEnd = "}\n"

// lineWriter makes a line in memory, up to a size, and writes it as a whole.
type lineWriter struct {
	ledger *Ledger
	buf    []byte
	begun  bool  // a part is written; the ledger is locked
	size   int64 // of that part
}

// maxLine is how much of a line is held in memory.
const maxLine = 256 << 10

// Write implements [io.Writer].
func (w *lineWriter) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	if len(w.buf) < maxLine {
		return len(p), nil
	}
	return len(p), w.flush(len(lineEnd)) // before which there is more to come
}

// flush writes what is held, but for the last bytes that are to be kept.
func (w *lineWriter) flush(keep int) error {
	l := w.ledger
	if !w.begun {
		w.begun = true
		l.mu.Lock()
	}
	if l.broken != nil {
		return l.broken
	}
	if w.size == 0 {
		if err := l.settle(); err != nil {
			return err
		}
	}
	n, err := l.file.Write(w.buf[:len(w.buf)-keep])
	w.buf, w.size = append(w.buf[:0], w.buf[len(w.buf)-keep:]...), w.size+int64(n)
	return err
}

// end ends the line. One that could not be written as a whole is taken back, and nothing more is written.
func (w *lineWriter) end(err error) error {
	l := w.ledger
	if err == nil {
		err = w.flush(0)
	}
	if !w.begun {
		l.mu.Lock()
	}
	defer l.mu.Unlock()
	switch {
	case l.broken != nil:
		return l.broken
	case err != nil:
		l.broken = err
		if info, serr := l.file.Stat(); serr == nil && info.Size() == l.size+w.size {
			l.file.Truncate(l.size) // else the next start cuts it
		}
		return err
	}
	l.size, l.dirty = l.size+w.size, true
	return nil
}

// withoutBrace passes on all but the first byte: the object becomes a part of another.
type withoutBrace struct {
	w     io.Writer
	begun bool
}

// Write implements [io.Writer].
func (b *withoutBrace) Write(p []byte) (int, error) {
	if b.begun || len(p) == 0 {
		return b.w.Write(p)
	}
	b.begun = true
	n, err := b.w.Write(p[1:])
	return n + 1, err
}

// sync writes results to the disk every second.
func (l *Ledger) sync() {
	tick := time.NewTicker(SyncInterval)
	defer tick.Stop()
	for {
		select {
		case <-l.done:
			return
		case <-tick.C:
			l.flush()
		}
	}
}

// flush writes what is new to the disk.
func (l *Ledger) flush() {
	l.mu.Lock()
	dirty := l.dirty
	l.dirty = false
	l.mu.Unlock()
	if !dirty || l.journal.file == nil {
		return
	}
	if err := l.file.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		l.mu.Lock()
		l.broken = err
		l.mu.Unlock()
	}
}

// RemoveSpool removes the copy of the tasks beside results whose tasks are all done, once they are on the disk.
func (l *Ledger) RemoveSpool(results string) {
	l.flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken == nil {
		removeSpool(results)
	}
}

// offset is where the next line goes.
func (l *Ledger) offset() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

// Close ends the use of the results. over says that nothing is running or left to do, so that nothing need be kept beside them.
func (l *Ledger) Close(over bool) error {
	close(l.done)
	l.synced.Wait()
	l.flush()
	l.mu.Lock()
	err := l.broken
	l.mu.Unlock()
	return errors.Join(err, l.file.Close(), l.journal.close(over))
}
