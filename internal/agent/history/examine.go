package history

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
)

// Report is what was found in a record.
type Report struct {
	Path    string    `json:"-"`
	Session string    `json:"session"`
	Bytes   int64     `json:"bytes"`
	Version string    `json:"version,omitempty"` // of the CLI that wrote it last
	Refused string    `json:"refused,omitempty"` // the service's last word, if it refused the history
	Found   []Finding `json:"found"`

	format *Format
	lines  []line
	dir    string           // where it works
	told   int              // messages of the user
	cuts   map[int]*cut     // by line
	index  map[string]int   // of lines, by their ids in the chain
	calls  map[string]*call // that may have a result
	early  map[string]spot  // the results that came before any call
	kinds  map[Kind][]spot  // parts that a refusal may be about
}

// line is one that was read, without its texts, and a sum by which it is known again.
type line struct {
	Line
	whole bool
	sum   uint64
}

// cut is what becomes of a line.
type cut struct {
	drop   bool
	parts  map[int]bool // that are left out; those that are true leave a note
	calls  []string     // that get a result, which is added behind it
	ids    []string     // of those results
	behind string       // the call that the line is moved behind
	joined bool         // it gets a parent in the chain
	parent string
}

// spot is where a part is: of so many parts of its line, and with so many inside it.
type spot struct{ line, part, of, inside int }

// call is one of a tool.
type call struct {
	spot
	served bool // the service itself answers it
	gone   bool // it is left out
	done   bool // it has a result
	result spot
}

var seed = maphash.MakeSeed()

// Examine reads the record of a session and finds what is wrong with it. refused is the service's word on it, where that is known.
func Examine(format *Format, path, session, refused string) (*Report, error) {
	r := newReport(format, path, session)
	var err error
	if r.Bytes, err = each(path, func(_ int, text []byte) error {
		r.take(r.read(text))
		return nil
	}); err != nil {
		return nil, err
	}
	r.Refused = cmp.Or(refused, r.Refused)
	r.close()
	return r, nil
}

func newReport(format *Format, path, session string) *Report {
	return &Report{Path: path, Session: session, Found: []Finding{}, format: format, cuts: map[int]*cut{}, index: map[string]int{}, calls: map[string]*call{},
		early: map[string]spot{}, kinds: map[Kind][]spot{}}
}

// read reads a line. Its texts are not kept.
func (r *Report) read(text []byte) line {
	l, whole := r.format.Read(text)
	for i := range l.Parts {
		l.Parts[i].Text = nil
	}
	return line{l, whole, maphash.Bytes(seed, text)}
}

func (r *Report) take(l line) {
	n := len(r.lines)
	r.lines = append(r.lines, l)
	if r.format.Head != nil && n == 0 && !l.Begins {
		r.find(Headless, 0)
	}
	if !l.whole {
		r.find(Torn, n).drop = true
		return
	}
	r.Version, r.dir = cmp.Or(l.Version, r.Version), cmp.Or(r.dir, l.Dir)
	if before, twice := r.index[l.ID]; twice && r.lines[before].sum == l.sum {
		r.find(Doubled, n).drop = true
		return
	} else if l.ID != "" && !twice {
		r.index[l.ID] = n
	}
	switch {
	case l.Refused != "":
		r.Refused = l.Refused
		r.cutOf(n).drop = true // of a copy it is not true
		return
	case l.Restarts: // what was said before is sent no more
		clear(r.calls)
		clear(r.early)
		clear(r.kinds)
		if r.format.Parent == "" {
			clear(r.index)
		}
	case l.Role == "assistant" && len(l.Parts) > 0:
		r.Refused = "" // it has answered since
	}
	for i, p := range l.Parts {
		at := spot{n, i, len(l.Parts), 0}
		for p.Kind == Result && i+at.inside+1 < at.of && l.Parts[i+at.inside+1].Inside {
			at.inside++
		}
		r.part(at, p, l.Role)
	}
}

func (r *Report) part(at spot, p Part, role string) {
	if p.Kind == Text && role == "user" {
		r.told++
	}
	called := r.calls[p.ID]
	switch {
	case p.Kind == Call && called != nil:
		r.leaveOut(CalledTwice, at)
	case p.Kind == Call:
		early, isEarly := r.early[p.ID]
		r.calls[p.ID] = &call{at, p.Served, p.Flaw != "", isEarly, early}
		if p.Flaw != "" {
			r.leaveOut(p.Flaw, at)
		} else if isEarly {
			r.find(Misplaced, early.line).behind = p.ID
			delete(r.early, p.ID)
		}
	case p.Flaw != "":
		r.leaveOut(p.Flaw, at)
	case p.Kind == Result && called == nil:
		if _, twice := r.early[p.ID]; twice {
			r.leaveOut(ToldTwice, at)
			return
		}
		r.early[p.ID] = at
	case p.Kind == Result && called.gone:
		r.leaveOut(Nameless, at)
	case p.Kind == Result && called.done:
		r.leaveOut(ToldTwice, at)
	case p.Kind == Result:
		called.done, called.result = true, at
	case p.Kind == Thinking || p.Kind == Image || p.Kind == Unknown:
		r.kinds[p.Kind] = append(r.kinds[p.Kind], at)
	}
}

// close finds what only shows at the end.
func (r *Report) close() {
	for _, at := range r.early {
		r.leaveOut(Unasked, at)
	}
	for id, c := range r.calls {
		switch {
		case c.done || c.gone:
		case c.served:
			r.leaveOut(Unanswered, c.spot)
		default:
			cut := r.find(Unanswered, c.line)
			cut.calls, cut.ids = append(cut.calls, id), append(cut.ids, newID(r.lines[c.line].ID))
		}
	}
	for id, c := range r.calls {
		if c.done && r.isUnexplained() && r.names(id) {
			r.leaveOut(Named, c.spot)
			r.leaveOut(Named, c.result)
		}
	}
	kind, flaw := blamed(r.Refused)
	if kind != Image || !slices.ContainsFunc(r.Found, func(f Finding) bool { return f.Flaw.isNoted() }) {
		for _, at := range r.kinds[kind] {
			r.leaveOut(flaw, at)
		}
	}
	switch {
	case isTooLong(r.Refused):
		r.find(TooLong, -1)
	case r.told == 0:
		r.find(NoRequest, -1)
	}
	if r.format.Parent != "" {
		r.join()
	}
	slices.SortStableFunc(r.Found, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Flaw, b.Flaw)) })
}

// leaveOut leaves a part out, and what is inside it.
func (r *Report) leaveOut(f Flaw, at spot) {
	c := r.find(f, at.line)
	if c.parts == nil {
		c.parts = map[int]bool{}
	}
	if _, gone := c.parts[at.part]; !gone {
		c.parts[at.part] = f.isNoted()
	}
	for i := range at.inside {
		c.parts[at.part+1+i] = false
	}
	c.drop = len(c.parts) == at.of
	for _, noted := range c.parts {
		c.drop = c.drop && !noted
	}
}

// find notes a flaw, and returns the cut of its line.
func (r *Report) find(f Flaw, line int) *cut {
	healed := f.Mend() != "" && r.format.Heals(r.Version, f)
	r.Found = append(r.Found, Finding{Flaw: f, Line: line + 1, What: f.String(), Healed: healed, Mend: f.Mend()})
	return r.cutOf(line)
}

func (r *Report) cutOf(line int) *cut {
	if r.cuts[line] == nil {
		r.cuts[line] = &cut{}
	}
	return r.cuts[line]
}

// IsBroken reports whether there is something for which the session cannot go on: the service has refused it, or its CLI does not mend all by itself.
func (r *Report) IsBroken() bool {
	return r.Refused != "" || slices.ContainsFunc(r.Found, func(f Finding) bool { return !f.Healed })
}

// names reports whether the service has named a call as it refused the history.
func (r *Report) names(id string) bool {
	return id != "" && slices.Contains(strings.FieldsFunc(r.Refused, func(c rune) bool { return strings.ContainsRune(" ,.:`'\"", c) }), id)
}

// isUnexplained reports whether the service has refused the history for what the record does not show.
func (r *Report) isUnexplained() bool {
	return r.Refused != "" && !slices.ContainsFunc(r.Found, func(f Finding) bool { return !f.Healed && f.Flaw != Named })
}

// Hopeless is the flaw that nothing can be done about; empty if there is none.
func (r *Report) Hopeless() Flaw {
	for _, f := range r.Found {
		if f.Flaw.Mend() == "" {
			return f.Flaw
		}
	}
	return ""
}
