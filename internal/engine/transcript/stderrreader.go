package transcript

import (
	"bytes"
	"io"

	"github.com/belay-run/belay/internal/agent"
)

// maxStderrLine is how much of a line on stderr is read for what it tells.
const maxStderrLine = 64 << 10

// stderrReader lets the follower read a standard error line by line, and passes on what is the caller's: all of it, unless
// the follower takes lines out.
type stderrReader struct {
	line   func([]byte) agent.Show // acts on what a line says, and returns what is to become of it
	begins func([]byte) bool       // says which lines may be taken out; nil if none is
	to     io.Writer
	held   []byte // the line so far; of one that may be taken out, nothing has been passed on
	passes bool   // the rest of the line is the caller's
	drops  bool   // the line is too long to be read, and not the caller's
}

// Write implements [io.Writer].
func (r *stderrReader) Write(p []byte) (int, error) {
	var own []byte // the caller's
	for rest := p; len(rest) > 0; {
		piece := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			piece = rest[:i+1]
		}
		rest = rest[len(piece):]
		if r.begins == nil {
			r.read(piece)
		} else {
			own = append(own, r.take(piece)...)
		}
	}
	if r.begins == nil {
		return r.to.Write(p)
	}
	if len(own) > 0 {
		if _, err := r.to.Write(own); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// read reads a piece of a line, which is the last one if it ends the line.
func (r *stderrReader) read(piece []byte) {
	r.held = append(r.held, piece[:min(len(piece), maxStderrLine-len(r.held))]...)
	if piece[len(piece)-1] == '\n' {
		r.line(bytes.TrimRight(r.held, "\r\n"))
		r.held = r.held[:0]
	}
}

// take takes such a piece from a follower that takes lines out, and returns what is the caller's.
func (r *stderrReader) take(piece []byte) (own []byte) {
	ends := piece[len(piece)-1] == '\n'
	if !r.passes && !r.drops {
		r.held = append(r.held, piece...)
		line := bytes.TrimRight(r.held, "\r\n")
		switch {
		case !r.begins(line):
			own, r.passes = bytes.Clone(r.held), true
		case ends || len(r.held) > maxStderrLine:
			if r.line(line) == agent.Pass {
				own, r.passes = bytes.Clone(r.held), true
			} else {
				r.drops = true
			}
		default:
			return nil
		}
		r.held = r.held[:0]
	} else if r.passes {
		own = piece
	}
	if ends {
		r.passes, r.drops = false, false
	}
	return own
}

// close passes on the begin of a line that has no end.
func (r *stderrReader) close() {
	if r.begins != nil && len(r.held) > 0 {
		r.to.Write(r.held)
		r.held = nil
	}
}
