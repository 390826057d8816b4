package batch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"hash/maphash"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

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
	// underWay are the tasks that were when the batch before was ended, by id.
	underWay map[string]interrupted

	mu     sync.Mutex
	size   int64 // the end of the last whole line
	dirty  bool
	broken error // why nothing can be written any more
	done   chan struct{}
	synced sync.WaitGroup
}

// Interrupted is how many tasks were running when the batch before ended.
func (l *Ledger) Interrupted() int { return len(l.underWay) }

// SyncInterval is how long a result may be only in the memory of the system.
const SyncInterval = time.Second

// OpenLedger opens the results at path, or begins them. The error is an [*InUse] if another batch has them.
func OpenLedger(path string, tasks string) (*Ledger, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New(message.BatchNotAFile(path))
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the journal is beside the file itself, whatever link leads to it
	}
	// The file first: where it cannot be written, no journal must be left beside it.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if !isLedger(file) {
		file.Close()
		return nil, errors.New(message.BatchNotResults())
	}
	j, underWay, err := openJournal(path+journalSuffix, tasks)
	if err != nil {
		file.Close()
		return nil, err
	}
	return &Ledger{path: path, file: file, journal: j, underWay: underWay, done: make(chan struct{})}, nil
}

// isLedger reports whether a file is empty or begins as results do, be it torn in its first line. A file of another kind is not ours to append to, let
// alone to cut.
func isLedger(f *os.File) bool {
	const begin = `{"task":`
	in := bufio.NewReader(io.NewSectionReader(f, 0, math.MaxInt64))
	first, err := in.ReadSlice('\n')
	if line := bytes.TrimLeft(first, " \t\r\n\x00"); len(line) == 0 || bytes.HasPrefix(line, []byte(begin)) || err != nil && strings.HasPrefix(begin, string(line)) {
		return true // NUL bytes are what a power failure leaves
	}
	if err != nil {
		return false
	}
	_, ok := parseRecord(bytes.TrimRight(first, "\r\n")) // by another program, which had its own order
	return ok
}

// Load tells the plan which of its tasks have ended, cuts a torn line, and gets ready to append.
func (l *Ledger) Load(p *Plan) error {
	size, err := l.scan(func(offset int64, r parsed) {
		l.Spent += r.cost
		if begun, ok := l.underWay[r.task]; ok && offset >= begun.offset {
			delete(l.underWay, r.task) // it ended; only the note of that was not written
			l.journal.end(r.task)
		}
		if p.streamed && r.state != Skipped {
			p.past[maphash.String(p.seed, r.task)] = pastTask{hash: r.hash, state: r.state}
		}
		n, ok := p.find(r.task)
		if !ok {
			return
		}
		if p.entry(n).hash == r.hash && r.state != Skipped {
			*p.state(n) = r.state
		}
	})
	if err != nil {
		return err
	}
	for _, was := range l.underWay {
		l.Spent += was.paid
	}
	if _, err := l.file.Seek(size, io.SeekStart); err != nil {
		return err
	}
	l.size = size
	l.synced.Go(l.sync)
	return nil
}

// Peek tells the plan which of its tasks have ended, and changes nothing.
func Peek(path string, p *Plan) error {
	e, err := readEnded(path)
	if err != nil {
		return err
	}
	for id, place := range e.last {
		if n, ok := p.find(id); ok && p.entry(n).hash == place.hash && place.state != Skipped {
			*p.state(n) = place.state
		}
	}
	return nil
}

// scan reads all results, and mends the end of the file. It returns where the next line goes.
func (l *Ledger) scan(each func(offset int64, r parsed)) (int64, error) {
	in := bufio.NewReaderSize(l.file, 256<<10)
	var size int64
	var long []byte
	for {
		piece, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, piece...)
			continue
		}
		line := piece
		if len(long) > 0 {
			line = append(long, piece...)
			long = long[:0]
		}
		if err == nil {
			if whole := bytes.TrimRight(line, "\r\n"); len(whole) > 0 {
				if r, ok := parseRecord(whole); ok {
					each(size, r)
				} else {
					l.Damaged++
				}
			}
			size += int64(len(line))
			continue
		}
		if !errors.Is(err, io.EOF) {
			return 0, err
		}
		if len(line) == 0 {
			return size, nil
		}
		if r, ok := parseRecord(line); ok && json.Valid(line) { // only the end of the line is missing: an editor left it out
			each(size, r)
			size += int64(len(line))
			_, err := l.file.WriteAt([]byte("\n"), size)
			return size + 1, err
		}
		l.Torn = int64(len(line))
		return size, l.file.Truncate(size)
	}
}

// Append writes the line of a task that has ended. body writes the result of its run; nil if there was none. The line is made before others
// have to wait for it, unless it is very long.
func (l *Ledger) Append(r *Record, body func(io.Writer) error) error {
	line := lineWriter{ledger: l, buf: r.append(make([]byte, 0, 1<<10))}
	var err error
	if body == nil {
		_, err = line.Write([]byte("}\n"))
	} else {
		line.buf = append(line.buf, ',')
		err = body(&withoutBrace{w: &line})
	}
	return line.end(err)
}

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
	return len(p), w.flush()
}

// flush writes what is held.
func (w *lineWriter) flush() error {
	l := w.ledger
	if !w.begun {
		w.begun = true
		l.mu.Lock()
	}
	if l.broken != nil {
		return l.broken
	}
	n, err := l.file.Write(w.buf)
	w.buf, w.size = w.buf[:0], w.size+int64(n)
	return err
}

// end ends the line. One that could not be written as a whole is taken back, and nothing more is written.
func (w *lineWriter) end(err error) error {
	l := w.ledger
	if err == nil {
		err = w.flush()
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
		l.file.Truncate(l.size) // else the next start cuts it
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
	if !dirty {
		return
	}
	if err := l.file.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		l.mu.Lock()
		l.broken = err
		l.mu.Unlock()
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
