package batch

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/belay-run/belay/internal/batch/tasks"
)

// Append writes the line of a task that has ended. body writes the result of its run; nil if there was none. The line is made before others
// have to wait for it, unless it is very long.
func (l *Ledger) Append(r *Record, body func(io.Writer) error) error {
	begin, err := r.encode()
	line := lineWriter{ledger: l, buf: begin}
	if err == nil && body != nil {
		line.buf = append(line.buf, ',')
		err = body(&withoutBrace{w: &line})
	}
	line.buf = append(bytes.TrimSuffix(line.buf, []byte(lineEnd)), r.ending()...)
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

// SyncInterval is how long a result may be only in the memory of the system.
const SyncInterval = time.Second

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
		tasks.RemoveSpool(results)
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
