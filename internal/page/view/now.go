package view

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/spool"
	"github.com/belay-run/belay/internal/supervise"
)

// Now is what runs and waits, and what keeps it waiting.
type Now struct {
	Runs    []Run             `json:"runs"`
	Ended   []spool.Header    `json:"ended"` // detached runs whose output was not shown yet
	Gates   []Gate            `json:"gates"`
	Budgets []overview.Budget `json:"budgets"`
	Limits  []overview.Limit  `json:"limits"`
	Trouble string            `json:"trouble,omitempty"` // a part that could not be had
	Fleet   bool              `json:"fleet,omitempty"`   // it is about all machines
}

// Run is one that is under way, or of which a killed belay has left processes.
type Run struct {
	supervise.Record
	PID      int           `json:"pid,omitempty"`
	Kind     string        `json:"kind"` // run, hook or mcp
	Started  *journal.Time `json:"started,omitempty"`
	Detached bool          `json:"detached,omitempty"`
	Left     []int         `json:"left_running,omitempty"`
	Machine  string        `json:"machine,omitempty"` // in a fleet
	Tail     bool          `json:"tail,omitempty"`    // what it prints can be shown
}

// Gate is a gate that is not healthy, or full.
type Gate struct {
	Key     string            `json:"key"`
	State   string            `json:"state"`
	Closed  bool              `json:"closed"`
	Full    bool              `json:"full,omitempty"`
	Since   *journal.Time     `json:"since,omitempty"`
	Until   *journal.Time     `json:"until,omitempty"`
	Reason  string            `json:"reason,omitempty"`
	Waiting []overview.Waiter `json:"waiting"`
}

// Now returns how things stand. A part that cannot be had is left out, and Trouble says why.
func (s *Source) Now() Now {
	if s.Fleet != nil {
		return s.Fleet.Now()
	}
	n := Now{Runs: []Run{}, Ended: []spool.Header{}, Gates: []Gate{}, Budgets: []overview.Budget{}}
	spools, _ := s.State.Spools().List() // what cannot be read is not what is asked for
	runs, err := overview.Runs(s.State.Records())
	trouble := []error{err}
	for _, r := range runs {
		n.Runs = append(n.Runs, newRun(r, slices.ContainsFunc(spools, func(h spool.Header) bool { return h.ID == r.ID })))
	}
	for _, h := range spools {
		if !h.Ended.IsZero() {
			n.Ended = append(n.Ended, h)
		}
	}
	gates, limits, err := overview.Gates(s.State)
	trouble = append(trouble, err)
	for _, g := range gates {
		n.Gates = append(n.Gates, NewGate(g))
	}
	n.Limits = limits
	budgets, err := s.Budgets()
	if trouble = append(trouble, err); budgets != nil {
		n.Budgets = budgets
	}
	if err := errors.Join(trouble...); err != nil {
		n.Trouble = err.Error()
	}
	return n
}

// Budgets returns how all budgets stand.
func (s *Source) Budgets() ([]overview.Budget, error) {
	rules, err := overview.Rules()
	if err != nil {
		return nil, err
	}
	names, err := overview.BudgetNames(s.State, rules)
	if err != nil {
		return nil, err
	}
	return overview.Budgets(s.State, rules, names)
}

// NewRun is a run of another machine, as its record says.
func NewRun(r supervise.Record, pid int, machine string) Run {
	run := newRun(r, false)
	run.PID, run.Machine, run.Tail = pid, machine, false
	return run
}

func newRun(r supervise.Record, detached bool) Run {
	run := Run{Record: r, PID: r.Owner.PID, Kind: "run", Started: timeOf(r.Started), Detached: detached, Tail: r.Lines}
	run.Home = "" // a directory that is of no use on a page
	if !r.IsRun() {
		run.Kind, _, _ = strings.Cut(r.Profile, ":")
	}
	for _, p := range r.Left {
		run.Left = append(run.Left, p.PID)
	}
	return run
}

// NewGate is how a gate stands now.
func NewGate(g overview.Gate) Gate {
	now := time.Now()
	state, since, until, reason := g.Columns(now)
	if g.Waiting == nil {
		g.Waiting = []overview.Waiter{}
	}
	return Gate{g.Key, state, g.Closed(now), g.Full, timeOf(since), timeOf(until.Round(time.Second)), reason, g.Waiting}
}

// timeOf is a time for JSON; null for none.
func timeOf(t time.Time) *journal.Time {
	if t.IsZero() {
		return nil
	}
	return &journal.Time{Time: t}
}
