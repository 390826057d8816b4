package agent

import (
	"bytes"
	"strings"
)

// What the abridged form of a long line keeps.
const (
	maxString = 16 << 10 // a longer string is cut
	keptHead  = 4 << 10  // of its beginning
	keptTail  = 4 << 10  // of its end, or up to twice that
	maxObject = 2 << 20  // of the outermost object or list; of each that stands in it half of that, and so on
	minObject = 128 << 10
	maxDepth  = 500
	maxNoted  = 256 // fields and strings whose place is noted
	maxPath   = 6   // names that lead to such a string; the most of them are near the top
)

// abridger makes a short line of JSON of a long one, without ever having all of it. What is no JSON comes out as it likes.
type abridger struct {
	out  []byte
	pos  int64
	open []container
	// skipping is the depth of the container whose rest is left out; 0 if none is.
	skipping int
	deeper   int           // containers that are open beyond the deepest that is read
	str      *stringReader // nil outside of strings

	members []member
	cuts    []cut
	// element, if not nil, is called for each object in an outermost list. It is then not kept.
	element func([]byte)
}

// container is an object or a list that is open.
type container struct {
	object   bool
	start    int    // where it begins in the abridged line
	end      int    // where its last whole member ends
	key      string // of the present member
	keyNext  bool   // the next string is a key
	from, to int64  // of the present member, in the line
}

func (a *abridger) write(p []byte) {
	for len(p) > 0 {
		if a.str != nil {
			n, ended := a.str.write(p)
			a.pos += int64(n)
			if p = p[n:]; ended {
				a.endString()
			}
			continue
		}
		c := p[0]
		p = p[1:]
		a.structure(c)
		a.pos++
	}
}

// top is the innermost container that is open; nil outside of all.
func (a *abridger) top() *container {
	if len(a.open) == 0 {
		return nil
	}
	return &a.open[len(a.open)-1]
}

// structure takes a character outside of strings.
func (a *abridger) structure(c byte) {
	top := a.top()
	switch c {
	case '"':
		a.value()
		a.emit(c)
		a.str = &stringReader{from: a.pos + 1, skip: a.skipping > 0, start: len(a.out), out: a.out}
	case '{', '[':
		a.value()
		if len(a.open) == maxDepth { // no CLI nests so deep
			if a.deeper++; a.skipping == 0 {
				a.skip()
			}
			return
		}
		a.open = append(a.open, container{object: c == '{', keyNext: c == '{', start: len(a.out)})
		a.emit(c)
		a.top().end = len(a.out)
	case '}', ']':
		if a.deeper > 0 {
			a.deeper--
			return
		}
		a.close(c)
	case ',':
		if top != nil && a.deeper == 0 {
			a.endMember(top)
			top.keyNext = top.object
		}
		if !a.listsElements() {
			a.emit(c)
		}
	case ':':
		if top != nil {
			top.keyNext = false
		}
		a.emit(c)
	case ' ', '\t', '\r', '\n':
		a.emit(c)
	default:
		a.value()
		a.emit(c)
		if top = a.top(); top != nil {
			top.to = a.pos + 1
		}
	}
}

// value says that a value, or a key, begins or goes on.
func (a *abridger) value() {
	if top := a.top(); top != nil && (!top.object || top.keyNext) && top.from == 0 {
		top.from = a.pos
	}
}

// close takes the end of a container.
func (a *abridger) close(c byte) {
	top := a.top()
	if top == nil {
		a.emit(c)
		return
	}
	a.endMember(top)
	if a.skipping == len(a.open) {
		a.skipping = 0
	}
	a.open = a.open[:len(a.open)-1]
	a.emit(c)
	if outer := a.top(); outer != nil {
		outer.to = a.pos + 1
	}
}

// endMember says that a member of a container is whole.
func (a *abridger) endMember(top *container) {
	depth := len(a.open)
	if depth == 1 && top.object && top.from > 0 && len(a.members) < maxNoted {
		a.members = append(a.members, member{top.key, top.from, top.to})
	}
	if a.listsElements() && a.skipping == 0 {
		if text := bytes.TrimSpace(a.out[top.start+1:]); len(text) > 0 && text[0] == '{' {
			a.element(text)
		}
		a.out = a.out[:top.start+1]
	}
	top.from, top.to, top.key = 0, 0, ""
	if a.skipping == 0 {
		top.end = len(a.out)
	}
}

// listsElements reports whether the innermost container is an outermost list whose objects are lines of their own.
func (a *abridger) listsElements() bool {
	return a.element != nil && len(a.open) == 1 && !a.open[0].object
}

// endString takes a string that has ended, its quote included.
func (a *abridger) endString() {
	s := a.str
	a.str = nil
	top := a.top()
	to := a.pos - 1 // before the quote
	if !s.skip {
		cutAt := s.finish()
		a.out = s.out
		if cutAt && len(a.cuts) < maxNoted {
			if path := a.path(); len(path) <= 2 || len(path) <= maxPath && len(a.cuts) < maxNoted/2 {
				a.cuts = append(a.cuts, cut{strings.Join(path, "."), s.from, to})
			}
		}
		if top != nil && top.keyNext {
			top.key = string(a.out[s.start:min(len(a.out), s.start+64)])
		}
		a.emit('"')
	}
	if top != nil {
		top.to = a.pos
	}
}

// path is where the present value stands.
func (a *abridger) path() (path []string) {
	for i, c := range a.open {
		if i > 0 || c.object || a.element == nil { // in a list whose objects are lines, it is that in the object
			path = append(path, c.key)
		}
	}
	return path
}

// emit adds a character to the abridged line, unless it belongs to what is left out. A container that has become too large
// ends with its last whole member.
func (a *abridger) emit(c byte) {
	if a.skipping > 0 {
		return
	}
	a.out = append(a.out, c)
	if top := a.top(); top != nil && len(a.out)-top.start > max(minObject, maxObject>>(len(a.open)-1)) {
		a.skip()
	}
}

// skip leaves out the rest of the innermost container.
func (a *abridger) skip() {
	a.out = a.out[:a.top().end]
	a.skipping = len(a.open)
}
