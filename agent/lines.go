package agent

import (
	"bytes"
	"time"

	"github.com/belay-run/belay/verdict"
)

// MaxLine is the longest line that is read as an event. Longer ones are passed on and are a sign of life, no more: they
// are what a tool has printed.
const MaxLine = 4 << 20

// Lines cuts a stream into lines. The zero value with Each set is ready to use; it is an [io.Writer] that never fails.
type Lines struct {
	// Each is called for every line. raw is as it came, in one piece or, if it is longer than MaxLine, in several of
	// which only the last one has line true; event is nil for all pieces of such a line. Neither is valid afterwards.
	Each func(raw, event []byte, line bool)

	held []byte
	long bool
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
	if l.long || len(l.held)+len(piece) > MaxLine {
		if len(l.held) > 0 {
			l.Each(l.held, nil, false)
			l.held = nil
		}
		l.long = !end
		l.Each(piece, nil, end)
		return
	}
	if len(l.held) == 0 && end { // the common case needs no copy
		l.Each(piece, bytes.TrimRight(piece, "\r\n"), true)
		return
	}
	l.held = append(l.held, piece...)
	if end {
		l.Close()
	}
}

// Close ends the last line, if it has no end of its own.
func (l *Lines) Close() {
	if len(l.held) > 0 {
		held := l.held
		l.held = l.held[:0]
		l.Each(held, bytes.TrimRight(held, "\r\n"), true)
	}
	l.long = false
}

// Replay shows a follower an outcome that was saved, and returns its verdict.
func Replay(f Follower, o verdict.Outcome, now time.Time) verdict.Verdict {
	lines := Lines{Each: func(_, event []byte, line bool) {
		if line {
			f.Line(event)
		}
	}}
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
