package agent

import (
	"maps"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/printable"
)

const (
	// MaxTools is how many tools are told apart, and how many of their calls are kept one by one.
	MaxTools = 20
	// OtherTools is the name that all further ones are counted under.
	OtherTools = "…"
	// maxToolName bounds a tool's name. Models make up names, and servers give long ones.
	maxToolName = 64
)

// ToolUse says which tools an attempt has used.
type ToolUse struct {
	// Totals are the tools in the order in which they were first used.
	Totals []ToolTotal
	// Calls are the first calls, in the order in which they began.
	Calls []ToolCall
	// Cut is how many calls there were beyond those.
	Cut int
}

// ToolTotal is what all calls of one tool add up to.
type ToolTotal struct {
	Name  string
	Count int
	Time  time.Duration
}

// ToolCall is one use of a tool.
type ToolCall struct {
	Name  string
	Start time.Time
	Time  time.Duration
}

// Tools follows the tools of an attempt by what the events say of them: which run now, and which have run how often and how
// long. Of what they were given only a short argument is kept, and only while they run; of what they have answered nothing. The zero
// value is ready.
type Tools struct {
	use    ToolUse
	open   map[string]openTool
	begun  int      // how many there were
	last   Activity // the call that began last
	newest openTool // of those that run; its n is 0 if none does
	asked  int      // how many had begun when Begun was last asked
	noted  []Call   // since Noted was last asked
}

// openTool is a call that has not ended.
type openTool struct {
	total, call int // where it is in the totals, and among the calls; -1 for one that was cut
	start       time.Time
	n           int // counts the calls from 1
	argument    string
	agent       bool // it is a sub-agent at work
}

// Call says that a tool has been called. The id names the call; one that runs already is the same.
func (t *Tools) Call(id string, c Call) {
	if t.Begin(id, c.Tool) {
		t.Note(c)
	}
	t.Argue(id, c.Argument)
}

// Begin says that a tool has been called. The id names the call. It reports whether that is new.
func (t *Tools) Begin(id, name string) bool {
	if _, again := t.open[id]; again {
		return false
	}
	t.begun++
	one := openTool{total: t.total(cutName(name)), call: -1, start: time.Now(), n: t.begun, agent: slices.Contains(agentTools, name)}
	t.use.Totals[one.total].Count++
	if len(t.use.Calls) < MaxTools {
		one.call = len(t.use.Calls)
		t.use.Calls = append(t.use.Calls, ToolCall{Name: cutName(name), Start: one.start})
	} else {
		t.use.Cut++
	}
	if t.open == nil {
		t.open = map[string]openTool{}
	}
	t.open[id] = one
	t.newest = one
	t.last = Activity{Doing: UsingTool, Tool: cutName(name)}
	return true
}

// Argue says what a call that runs was given.
func (t *Tools) Argue(id, argument string) {
	one, ok := t.open[id]
	if !ok {
		return
	}
	one.argument = argument
	t.open[id] = one
	if t.newest.n == one.n {
		t.newest, t.last.Argument = one, argument
	}
}

// Begun is the newest call, if that has begun since it was last asked; else the zero value.
func (t *Tools) Begun() (a Activity) {
	if t.begun > t.asked {
		a = t.last
	}
	t.asked = t.begun
	return a
}

// Newest is the name and the argument of the call that began last of those that run; the name is empty if none does.
func (t *Tools) Newest() (name, argument string) {
	if t.newest.n == 0 {
		return "", ""
	}
	return t.use.Totals[t.newest.total].Name, t.newest.argument
}

// total finds the place of a tool in the totals.
func (t *Tools) total(name string) int {
	named := func(want string) func(ToolTotal) bool { return func(one ToolTotal) bool { return one.Name == want } }
	if i := slices.IndexFunc(t.use.Totals, named(name)); i >= 0 {
		return i
	}
	if len(t.use.Totals) < MaxTools {
		t.use.Totals = append(t.use.Totals, ToolTotal{Name: name})
	} else if len(t.use.Totals) == MaxTools {
		t.use.Totals = append(t.use.Totals, ToolTotal{Name: OtherTools})
	}
	return len(t.use.Totals) - 1
}

// End says that a call has ended. One that is not known changes nothing.
func (t *Tools) End(id string) {
	if one, ok := t.open[id]; ok {
		t.use.took(one, time.Now())
		delete(t.open, id)
		if t.newest.n == one.n {
			t.newest = openTool{}
			for _, other := range t.open {
				if other.n > t.newest.n {
					t.newest = other
				}
			}
		}
	}
}

// EndAll says that none runs any more.
func (t *Tools) EndAll() {
	for id := range t.open {
		t.End(id)
	}
}

// Running is how many run now.
func (t *Tools) Running() int { return len(t.open) }

// RunningBut is how many run now that have another name.
func (t *Tools) RunningBut(name string) int {
	return t.count(func(one openTool) bool { return t.use.Totals[one.total].Name != name })
}

// count is how many of those that run now are as they are asked for.
func (t *Tools) count(asked func(openTool) bool) (n int) {
	for _, one := range t.open {
		if asked(one) {
			n++
		}
	}
	return n
}

// Runs reports whether a call runs now, and is one of the tool of that name.
func (t *Tools) Runs(id, name string) bool {
	one, ok := t.open[id]
	return ok && t.use.Totals[one.total].Name == name
}

// Use says what has been used. A call that has not ended has taken until now.
func (t *Tools) Use() ToolUse {
	use := ToolUse{Totals: slices.Clone(t.use.Totals), Calls: slices.Clone(t.use.Calls), Cut: t.use.Cut}
	now := time.Now()
	for one := range maps.Values(t.open) {
		use.took(one, now)
	}
	return use
}

// took adds the time of a call.
func (u *ToolUse) took(one openTool, until time.Time) {
	d := until.Sub(one.start)
	u.Totals[one.total].Time += d
	if one.call >= 0 {
		u.Calls[one.call].Time = d
	}
}

// cutName bounds a name to whole characters.
func cutName(name string) string {
	if len(name) <= maxToolName {
		return name
	}
	return printable.Prefix(name, maxToolName) + "…"
}
