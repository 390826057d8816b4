package history

import (
	"cmp"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/price"
)

// Report is what was found in a record.
type Report struct {
	Path    string    `json:"-"`
	Session string    `json:"session"`
	Version string    `json:"version,omitempty"` // of the CLI that wrote it last
	Refused string    `json:"refused,omitempty"` // the service's last word, if it refused the history
	Found   []Finding `json:"found"`
	// Broken says that there is something for which the session cannot go on, and Repaired which copy of it can.
	Broken   bool   `json:"broken"`
	Repaired string `json:"repaired,omitempty"`

	format *Format
	lines  []line
	index  map[string]int // of lines, by their ids
	from   int            // the first line that is still sent
	dir    string         // where it works
	told   int            // what the user has said

	model  string     // that answered last
	used   price.Call // by the request that was answered last, and when that was
	usedAt time.Time
	hour   bool // the service was asked to keep it for an hour
}

// line is one that was read, without its texts, and what becomes of it.
type line struct {
	Line
	sum    uint64 // by which it is known again
	left   int    // parts that stay
	drop   bool
	cut    map[int]bool // parts that are left out; those that are true leave a note
	lost   []string     // calls that get a result, in a line that is added behind it
	added  string       // the id of that
	parent string       // the line before it in the chain, in a copy
}

// spot is where a part is.
type spot struct{ line, part int }

// call is one of a tool, and where its result is; nil if it has none.
type call struct {
	spot
	Part
	result *spot
}

var seed = maphash.MakeSeed()

// Examine reads the record of a session and finds what is wrong with it. refused is the service's word on it, where that is known.
func Examine(format *Format, path, session, refused string) (*Report, error) {
	r := newReport(format, path, session)
	if err := each(path, func(_ int, text []byte) error {
		r.read(text)
		return nil
	}); err != nil {
		return nil, err
	}
	r.Refused = cmp.Or(refused, r.Refused)
	r.close()
	return r, nil
}

func newReport(format *Format, path, session string) *Report {
	return &Report{Path: path, Session: session, Found: []Finding{}, format: format, index: map[string]int{}}
}

// read reads a line. Its texts are not kept.
func (r *Report) read(text []byte) {
	l, whole := r.format.Read(text)
	for i := range l.Parts {
		l.Parts[i].Text = nil
	}
	r.take(l, whole, maphash.Bytes(seed, text))
}

func (r *Report) take(read Line, whole bool, sum uint64) {
	n := len(r.lines)
	r.lines = append(r.lines, line{Line: read, sum: sum, parent: read.Parent})
	l := &r.lines[n]
	if r.format.Head != nil && n == 0 && !l.Begins {
		r.find(Headless, n)
	}
	before, twice := r.index[l.ID]
	switch {
	case !whole:
		r.find(Torn, n)
		l.drop = true
		return
	case twice && r.lines[before].sum == sum:
		r.find(Doubled, n)
		l.drop = true
		return
	case l.ID != "" && !twice:
		r.index[l.ID] = n
	}
	r.Version, r.dir, r.model = cmp.Or(l.Version, r.Version), cmp.Or(r.dir, l.Dir), cmp.Or(l.Model, r.model)
	if u := l.Used; u != nil {
		r.used, r.usedAt = *u, l.At
		r.hour = u.CacheWriteHour > 0 || r.hour && u.CacheWrite == 0
	}
	for _, p := range l.Parts {
		if !p.Inside {
			l.left++
		}
		if p.Kind == Text && l.Role == "user" {
			r.told++
		}
	}
	switch {
	case l.Refused != "":
		r.Refused, l.drop = l.Refused, true // of a copy it is not true
	case l.Restarts:
		r.from = n
	case l.left > 0 && l.Role == "assistant":
		r.Refused = "" // it has answered since
	}
}

// parts are those that are still sent.
func (r *Report) parts() iter.Seq2[spot, Part] {
	return func(yield func(spot, Part) bool) {
		for n := r.from; n < len(r.lines); n++ {
			for i, p := range r.lines[n].Parts {
				if _, gone := r.lines[n].cut[i]; !gone && !r.lines[n].drop && !yield(spot{n, i}, p) {
					return
				}
			}
		}
	}
}

// close finds what only shows at the end.
func (r *Report) close() {
	r.pair()
	kind, flaw := blamed(r.Refused)
	if kind != Image || !slices.ContainsFunc(r.Found, func(f Finding) bool { return f.Flaw.isNoted() }) {
		for at, p := range r.parts() {
			if p.Kind == kind {
				r.leaveOut(flaw, at)
			}
		}
	}
	switch {
	case flaw == TooLong:
		r.find(TooLong, -1)
	case r.told == 0:
		r.find(NoRequest, -1)
	}
	if r.format.Parent != "" {
		r.join()
	}
	r.Broken = r.Refused != "" || r.isFlawed()
	slices.SortStableFunc(r.Found, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Flaw, b.Flaw)) })
}

// pair finds calls without their results, results without their calls, and parts that have a flaw of their own.
func (r *Report) pair() {
	var calls []*call
	known := map[string]*call{}
	for at, p := range r.parts() {
		c := known[p.ID]
		switch {
		case p.Kind == Call && c != nil:
			r.leaveOut(Twice, at)
		case p.Kind == Call && p.ID != "":
			c = &call{spot: at, Part: p}
			calls, known[p.ID] = append(calls, c), c
		case p.Kind == Result && p.Flaw == "" && p.ID != "":
			switch {
			case c == nil:
				p.Flaw = Unasked
			case c.Flaw != "":
				p.Flaw = c.Flaw
			case c.result != nil:
				p.Flaw = Twice
			default:
				c.result = &at
			}
		}
		if p.Flaw != "" {
			r.leaveOut(p.Flaw, at)
		}
	}
	for _, c := range calls {
		switch l := &r.lines[c.line]; {
		case c.result != nil || c.Flaw != "":
		case c.Served:
			r.leaveOut(Unanswered, c.spot)
		default:
			r.find(Unanswered, c.line)
			l.lost, l.added = append(l.lost, c.ID), cmp.Or(l.added, newID(l.ID))
		}
	}
	if r.Refused == "" || r.isFlawed() {
		return
	}
	named := strings.FieldsFunc(r.Refused, func(c rune) bool { return strings.ContainsRune(" ,.:`'\"", c) })
	for _, c := range calls { // which is whole, and is still refused
		if c.result != nil && slices.Contains(named, c.ID) {
			r.leaveOut(Named, c.spot)
			r.leaveOut(Named, *c.result)
		}
	}
}

// leaveOut leaves a part out, and its line once there is nothing else in it.
func (r *Report) leaveOut(f Flaw, at spot) {
	r.find(f, at.line)
	l := &r.lines[at.line]
	if l.cut == nil {
		l.cut = map[int]bool{}
	}
	l.cut[at.part] = f.isNoted()
	if !f.isNoted() && !l.Parts[at.part].Inside {
		l.left--
		l.drop = l.left == 0
	}
}

// find notes a flaw of a line; -1 stands for the whole.
func (r *Report) find(f Flaw, line int) {
	healed := f.Mend() != "" && r.format.Heals(r.Version, f)
	r.Found = append(r.Found, Finding{Flaw: f, Line: line + 1, What: f.String(), Healed: healed, Mend: f.Mend()})
}

// isFlawed reports whether there is something that the CLI does not mend by itself.
func (r *Report) isFlawed() bool {
	return slices.ContainsFunc(r.Found, func(f Finding) bool { return !f.Healed })
}

// Hopeless is the flaw that nothing can be done about; empty if there is none.
func (r *Report) Hopeless() Flaw {
	for _, f := range r.Found {
		if f.Mend == "" {
			return f.Flaw
		}
	}
	return ""
}
