package engine

import (
	"bytes"
	"io"

	"github.com/belay-run/belay/internal/agent"
)

// maxStderrRead is how much of a line on stderr is read for what it tells.
const maxStderrRead = 64 << 10

// stderrFilter lets the follower read a standard error line by line, and passes on what is the caller's.
type stderrFilter struct {
	log    *eventLog
	filter agent.StderrFilter
	to     io.Writer
	held   []byte // the begin of a line that may be the follower's
	passes bool   // the rest of the line is the caller's
	drops  bool   // the line is too long to be read, and not the caller's
}

// Write implements [io.Writer].
func (f *stderrFilter) Write(p []byte) (int, error) {
	var own []byte // the caller's
	for rest := p; len(rest) > 0; {
		piece := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			piece = rest[:i+1]
		}
		rest = rest[len(piece):]
		own = append(own, f.take(piece)...)
	}
	if len(own) > 0 {
		if _, err := f.to.Write(own); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// take takes a piece of a line, which is the last one if it ends the line, and returns what is the caller's.
func (f *stderrFilter) take(piece []byte) (own []byte) {
	ends := piece[len(piece)-1] == '\n'
	if !f.passes && !f.drops {
		f.held = append(f.held, piece...)
		line := bytes.TrimRight(f.held, "\r\n")
		switch {
		case !f.filter.StderrBegins(line):
			own, f.passes = bytes.Clone(f.held), true
		case ends || len(f.held) > maxStderrRead:
			if f.log.filteredLine(f.filter, line) {
				own, f.passes = bytes.Clone(f.held), true
			} else {
				f.drops = true
			}
		default:
			return nil
		}
		f.held = f.held[:0]
	} else if f.passes {
		own = piece
	}
	if ends {
		f.passes, f.drops = false, false
	}
	return own
}

// close passes on the begin of a line that has no end.
func (f *stderrFilter) close() {
	if len(f.held) > 0 {
		f.to.Write(f.held)
		f.held = nil
	}
}

// filteredLine acts on what a line on stderr says, and reports whether it is for the caller.
func (t *eventLog) filteredLine(filter agent.StderrFilter, line []byte) (show bool) {
	t.reading.Lock()
	defer t.reading.Unlock()
	info, known, show := filter.FilterStderr(line)
	if known && !t.closed {
		t.act(info)
		if info.Progress != nil && t.tell != nil {
			t.tell.telling(info.Progress, false)
		}
	}
	return show
}
