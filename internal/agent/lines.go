package agent

import (
	"bytes"
	"io"
	"time"

	"github.com/belay-run/belay/verdict"
)

// MaxLine is the longest line that is kept in memory. A longer one is spooled, and read in an abridged form.
const MaxLine = 1 << 20

// Line is one line of a CLI's output.
type Line struct {
	// Text is the line without its end. Of a long one it is abridged: if the line is JSON, so is Text, with the middle of
	// long strings and the rest of very large objects and lists left out.
	Text []byte
	// Long is the whole of a long line; nil if Text is.
	Long *LongLine

	raw []byte // with its end, as it came; nil if it is long
}

// WriteTo writes the line as it came, with its end.
func (l Line) WriteTo(w io.Writer) (int64, error) {
	if l.Long != nil {
		return l.Long.writeTo(w, 0, l.Long.spool.Size())
	}
	n, err := w.Write(l.raw)
	return int64(n), err
}

// Keep returns the line for later: it stays valid.
func (l Line) Keep() Line {
	if l.Long != nil {
		l.Long.kept = true
	}
	return Line{Text: bytes.Clone(l.Text), Long: l.Long, raw: bytes.Clone(l.raw)}
}

// Spool keeps what is too long for memory. It may be read while it is not written.
type Spool interface {
	io.Writer
	io.ReaderAt
	io.Closer
	Size() int64
}

// Lines cuts a stream into lines. The zero value with Each set is ready to use; it is an [io.Writer] that never fails.
type Lines struct {
	// Each is called for every line, whose Text is not valid afterwards. Its LongLine is, and is for Each to close.
	Each func(Line)
	// Spool makes the place for a long line that begins there in the stream. If it is nil, nothing but the abridged form is
	// kept of one.
	Spool func(from int64) Spool
	// Lists makes lines of their own of the objects in a long list: a CLI may print all of its events as one.
	Lists bool

	pos  int64 // where the present line begins
	held []byte
	long *longReader
}

// Write implements [io.Writer].
func (l *Lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		piece := p[:i+1]
		if i < 0 {
			piece = p
		}
		p = p[len(piece):]
		l.take(piece, i >= 0)
	}
	return n, nil
}

func (l *Lines) take(piece []byte, end bool) {
	switch {
	case l.long != nil:
		l.long.write(piece)
	case len(l.held)+len(piece) > MaxLine:
		l.long = newLongReader(l)
		l.long.write(l.held)
		l.long.write(piece)
		l.held = nil
	case len(l.held) == 0 && end: // the common case needs no copy
		l.pos += int64(len(piece))
		l.Each(Line{Text: bytes.TrimRight(piece, "\r\n"), raw: piece})
		return
	default:
		l.held = append(l.held, piece...)
	}
	if end {
		l.Close()
	}
}

// Close ends the last line, if it has no end of its own.
func (l *Lines) Close() {
	switch {
	case l.long != nil:
		line := l.long.line()
		l.pos += l.long.pos
		l.long = nil
		l.Each(line)
	case len(l.held) > 0:
		held := l.held
		l.held = l.held[:0]
		l.pos += int64(len(held))
		l.Each(Line{Text: bytes.TrimRight(held, "\r\n"), raw: held})
	}
}

// Replay shows a reader an outcome that was saved, and returns its verdict.
func Replay(f Reader, o verdict.Outcome, now time.Time) verdict.Verdict {
	lines := Lines{Lists: true, Each: func(line Line) { f.Line(line) }}
	lines.Write(o.Stdout.Head)
	if o.Stdout.Truncated() {
		lines.Close()
		// What is before the first line's end is only half of one.
		if i := bytes.IndexByte(o.Stdout.Tail, '\n'); i >= 0 {
			lines.Write(o.Stdout.Tail[i+1:])
		}
	} else {
		lines.Write(o.Stdout.Tail)
	}
	lines.Close()
	return f.Judge(o, now)
}

// Abridge copies a CLI's output line by line, the long ones abridged.
func Abridge(w io.Writer, r io.Reader) error {
	var failed error
	lines := Lines{Lists: true, Each: func(line Line) {
		if line.raw == nil { // it was long
			line.raw = append(line.Text, '\n')
		}
		if _, err := line.WriteTo(w); err != nil && failed == nil {
			failed = err
		}
	}}
	_, err := io.Copy(&lines, r)
	lines.Close()
	if failed != nil {
		return failed
	}
	return err
}
