package history

import (
	"cmp"
	"slices"
)

// Report is what was found in a record.
type Report struct {
	Path    string
	Session string
	Bytes   int64
	Version string // of the CLI that wrote it last
	Model   string // that answered last
	Refused string // the service's last word, if it refused the history
	Found   []Finding

	format *Format
	lines  int
	told   int             // messages of the user
	cuts   map[int]*cut    // by line
	places []place         // of the lines that are in a chain
	index  map[string]int  // of places, by id
	calls  map[string]spot // that may have a result
	first  map[string]spot // the results that came before any call
	done   map[string]bool // calls that have one
	served map[string]bool // calls that the service itself answers
	gone   map[string]bool // calls that are left out
	kinds  map[Kind][]spot // parts that a refusal may be about
}

// cut is what becomes of a line.
type cut struct {
	drop    bool
	noted   bool         // a note stays in the place of an image
	parts   map[int]bool // that are left out
	results []result     // that are added behind it
	behind  string       // the call that the line is moved behind
	parent  string       // that it gets in the chain
	joined  bool         // it gets one
}

// result is one that a call gets which has none.
type result struct{ call, id, parent string }

// spot is where a part is: of so many parts of its line, and with so many inside it.
type spot struct{ line, part, of, inside int }

// place is a line's place in the chain.
type place struct {
	line       int
	id, parent string
}

// Examine reads the record of a session and finds what is wrong with it. refused is the service's word on it, where that is known.
func Examine(format *Format, path, session, refused string) (*Report, error) {
	r := &Report{Path: path, Session: session, format: format, cuts: map[int]*cut{}, index: map[string]int{}, calls: map[string]spot{}, first: map[string]spot{},
		done: map[string]bool{}, gone: map[string]bool{}, served: map[string]bool{}, kinds: map[Kind][]spot{}}
	var err error
	r.Bytes, err = each(path, func(n int, text []byte) error {
		r.take(n, text)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.Refused = cmp.Or(refused, r.Refused)
	r.close()
	return r, nil
}

func (r *Report) take(n int, text []byte) {
	r.lines = n + 1
	l, ok := r.format.Read(text)
	if r.format.Head != nil && n == 0 && (!ok || !l.Begins) {
		r.find(Headless, 0)
	}
	if !ok {
		r.find(Torn, n).drop = true
		return
	}
	r.Version, r.Model = cmp.Or(l.Version, r.Version), cmp.Or(l.Model, r.Model)
	if l.ID != "" {
		if _, twice := r.index[l.ID]; !twice {
			r.index[l.ID] = len(r.places)
			r.places = append(r.places, place{n, l.ID, l.Parent})
		}
	}
	switch {
	case l.Refused != "":
		r.Refused = l.Refused
		r.cutOf(n).drop = true // of a copy it is not true
		return
	case l.Restarts:
		r.restart()
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

// restart forgets the calls so far: they are sent no more.
func (r *Report) restart() {
	clear(r.calls)
	clear(r.first)
	clear(r.kinds)
}

func (r *Report) part(at spot, p Part, role string) {
	if p.Kind == Text && role == "user" {
		r.told++
	}
	switch _, called := r.calls[p.ID]; {
	case p.Flaw != "":
		r.leaveOut(p.Flaw, at)
		if p.Kind == Call {
			r.gone[p.ID] = true
		}
	case p.Kind == Call && called:
		r.leaveOut(CalledTwice, at)
	case p.Kind == Call:
		r.calls[p.ID] = at
		if p.Served {
			r.served[p.ID] = true
		}
		if early, ok := r.first[p.ID]; ok {
			r.find(Misplaced, early.line).behind = p.ID
			delete(r.first, p.ID)
			r.done[p.ID] = true
		}
	case p.Kind == Result && called && r.done[p.ID]:
		r.leaveOut(ToldTwice, at)
	case p.Kind == Result && called:
		r.done[p.ID] = true
	case p.Kind == Result:
		if _, twice := r.first[p.ID]; twice {
			r.leaveOut(ToldTwice, at)
			return
		}
		r.first[p.ID] = at
	case p.Kind == Thinking || p.Kind == Image || p.Kind == Unknown:
		r.kinds[p.Kind] = append(r.kinds[p.Kind], at)
	}
}

// close finds what only shows at the end.
func (r *Report) close() {
	for id, at := range r.first {
		flaw := Unasked
		if r.gone[id] {
			flaw = Nameless
		}
		r.leaveOut(flaw, at)
	}
	for id, at := range r.calls {
		switch {
		case r.done[id]:
		case r.served[id]:
			r.leaveOut(Unanswered, at)
		default:
			c := r.find(Unanswered, at.line)
			c.results = append(c.results, result{call: id})
		}
	}
	kind, flaw, ok := blamed(r.Refused)
	found := func(f Finding) bool { return f.Flaw == LargeImage || f.Flaw == WrongImage || f.Flaw == BadImage }
	if ok && !(kind == Image && slices.ContainsFunc(r.Found, found)) {
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
	r.join()
	slices.SortStableFunc(r.Found, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
}

// leaveOut leaves a part out.
func (r *Report) leaveOut(f Flaw, at spot) {
	c := r.find(f, at.line)
	if c.parts == nil {
		c.parts = map[int]bool{}
	}
	for i := range at.inside + 1 {
		c.parts[at.part+i] = true
	}
	c.noted = c.noted || f == LargeImage || f == WrongImage || f == BadImage
	c.drop = len(c.parts) == at.of && !c.noted
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

// join mends the chain: each message follows one that stays, and a result that is added comes between its call and what followed that.
func (r *Report) join() {
	if r.format.Link == nil {
		return
	}
	behind := map[string]string{} // what comes behind a message now
	for _, p := range r.places {
		c := r.cuts[p.line]
		if c == nil {
			continue
		}
		last := p.id
		for i := range c.results {
			c.results[i].id, c.results[i].parent = newID(p.id), last
			last = c.results[i].id
			behind[p.id] = last
		}
	}
	last := ""
	for i, p := range r.places {
		parent, whole := r.standing(p.parent)
		if !whole && !r.leads(last, p.id) {
			r.find(Broken, p.line)
			parent = last
		}
		if c := r.cuts[p.line]; c == nil || !c.drop {
			last = p.id
		}
		r.places[i].parent = parent
		if by, ok := behind[parent]; ok {
			parent = by
		}
		if parent != p.parent {
			c := r.cutOf(p.line)
			c.parent, c.joined = parent, true
		}
	}
}

// standing is the nearest of an id and those before it in the chain that stays; ok is false if there is none because one is missing.
func (r *Report) standing(id string) (string, bool) {
	for range len(r.places) + 1 {
		i, there := r.index[id]
		if id == "" || !there {
			return "", id == ""
		}
		if c := r.cuts[r.places[i].line]; c == nil || !c.drop {
			return id, true
		}
		id = r.places[i].parent
	}
	return "", true
}

// leads reports whether one goes back to another in the chain.
func (r *Report) leads(from, to string) bool {
	for range len(r.places) {
		i, there := r.index[from]
		if from == to {
			return true
		}
		if !there {
			return false
		}
		from = r.places[i].parent
	}
	return true
}

func (r *Report) has(f Flaw) bool {
	return slices.ContainsFunc(r.Found, func(found Finding) bool { return found.Flaw == f })
}

// IsBroken reports whether there is something for which the session cannot go on: the service has refused it, or its CLI does not mend all by itself.
func (r *Report) IsBroken() bool {
	return r.Refused != "" || slices.ContainsFunc(r.Found, func(f Finding) bool { return !f.Healed })
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
