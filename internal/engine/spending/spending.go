// Package spending charges what an agent costs to the limits that it counts towards. A [Ledger] knows which limit is reached, before an attempt and after
// each model call.
package spending

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/gatefile"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// ChargeVar is the environment variable that tells a run inside another one which limits it counts towards: those of
// [call.Settings.MaxCost] and [call.Settings.Budgets] of all runs and batches around it, as in "run:ID=0.5,batch:ID=2,budget:nightly".
const ChargeVar = "BELAY_CHARGE"

// Ledger holds what an agent costs against limits: that of the run itself, those of the runs around it, and budgets. Each
// is a book, and what is spent is charged to all of them. Where there is no limit, its methods do nothing.
type Ledger struct {
	run     string       // the run's id
	state   *state.State // nil if nothing is shared
	emit    func(belaytype.Event)
	counts  bool // the command costs money that it tells of
	limits  []*limit
	spender budget.Spender

	mu       sync.Mutex
	charged  float64 // for the model calls of the present attempt
	unpriced bool    // one of them has no price
	// open is what was charged for earlier attempts of which not all is known, and unknown how many of them count as unknown:
	// the cost of a later attempt may include theirs.
	open    float64
	unknown int
}

// limit is a book that is charged, and how it stands.
type limit struct {
	book *budget.Book // nil if nothing is shared
	// reached is the cause of a stop by this limit, without its figures.
	reached belaytype.MaxCostReached
	// own is what this run has charged: where the book cannot be used, the run's own limit holds all the same.
	own   budget.Standing
	isOwn bool // that of the run itself
	told  bool // that it is nearly reached, or that there is trouble
}

// find finds the limits that a call counts towards. outer is what the run around it says, and shared the book of the batch that it is
// a part of; nil if it is not.
func (s *Ledger) find(c *call.Call, outer string, shared *budget.Book) {
	if limit := c.Settings.MaxCost; limit > 0 {
		s.add(&budgetRef{run: c.ID, terms: runTerms(limit)})
	}
	for _, ref := range parseCharge(outer) {
		s.add(&ref)
	}
	if shared != nil {
		l := &limit{book: shared, reached: belaytype.MaxCostReached{Run: shared.Name}}
		l.own.Terms = *shared.Terms
		s.limits = append(s.limits, l)
	}
	for _, b := range c.Settings.Budgets {
		s.add(&budgetRef{budget: b.Name, terms: b.Terms})
	}
}

// runTerms are the terms of what a run may cost: nothing more is started once the cost of an attempt is not known.
func runTerms(limit float64) *budget.Terms { return &budget.Terms{Limit: limit, Strict: true} }

// budgetRef names a book: that of a run, or of a budget.
type budgetRef struct {
	run, budget string
	terms       *budget.Terms
}

// add adds a limit. One that the run around this one has already named is taken once, by the terms that this run has for it.
func (s *Ledger) add(ref *budgetRef) {
	l := &limit{isOwn: ref.run == s.run && ref.run != ""}
	l.reached.Budget = ref.budget
	if !l.isOwn {
		l.reached.Run = ref.run
	}
	if ref.terms != nil {
		l.own.Terms = *ref.terms
	}
	if s.state != nil {
		if ref.budget != "" {
			l.book = s.state.Budgets().Book(ref.budget, ref.terms)
		} else {
			l.book = s.state.RunCosts().Book(ref.run, ref.terms)
		}
	}
	same := func(other *limit) bool {
		return other.reached.Budget == ref.budget && other.reached.Run == l.reached.Run && other.isOwn == l.isOwn
	}
	if at := slices.IndexFunc(s.limits, same); at >= 0 {
		s.limits[at] = l
		return
	}
	s.limits = append(s.limits, l)
}

// parseCharge reads what the run around this one says. What it does not understand it leaves out: a later version may say
// more.
func parseCharge(text string) (refs []budgetRef) {
	for one := range strings.SplitSeq(text, ",") {
		if name, ok := strings.CutPrefix(one, "budget:"); ok && budget.CheckName(name) == nil {
			refs = append(refs, budgetRef{budget: name})
		}
		kind, rest, _ := strings.Cut(one, ":")
		id, amount, _ := strings.Cut(rest, "=")
		limit, err := strconv.ParseFloat(amount, 64)
		if err != nil || !(limit > 0) || !agent.IsUUID(id) {
			continue
		}
		switch kind {
		case "run":
			refs = append(refs, budgetRef{run: id, terms: runTerms(limit)})
		case "batch":
			// One task whose cost is not known does not keep the others from being started.
			refs = append(refs, budgetRef{run: id, terms: &budget.Terms{Limit: limit}})
		}
	}
	return refs
}

// environ is the variable for what runs inside this run; empty if there is no limit.
func (s *Ledger) environ() string {
	var list []string
	for _, l := range s.limits {
		switch {
		case l.reached.Budget != "":
			list = append(list, "budget:"+l.reached.Budget)
		case l.isOwn:
			list = append(list, fmt.Sprintf("run:%s=%g", s.run, l.own.Limit))
		case l.book != nil && !l.book.OnFile():
		case !l.own.Strict:
			list = append(list, fmt.Sprintf("batch:%s=%g", l.reached.Run, l.own.Limit))
		default:
			list = append(list, fmt.Sprintf("run:%s=%g", l.reached.Run, l.own.Limit))
		}
	}
	return strings.Join(list, ",")
}

// Begin finds the limits, puts the terms of budgets on file for those who join them by name, and tells the command of
// all of them.
func (s *Ledger) Begin(ctx context.Context, c *call.Call) {
	outer, shared := os.Getenv(ChargeVar), budget.Of(ctx)
	s.run, s.state, s.emit, s.counts = c.ID, c.State, c.Emit, spends(c)
	if outer == "" && shared == nil && c.Settings.MaxCost <= 0 && len(c.Settings.Budgets) == 0 {
		return
	}
	s.find(c, outer, shared)
	if c.State == nil {
		if outer != "" {
			c.Env = append(slices.Clip(c.Env), ChargeVar+"="+outer)
		}
	} else if text := s.environ(); text != "" {
		c.Env = append(slices.Clip(c.Env), ChargeVar+"="+text)
	}
	for _, l := range s.limits {
		s.settleTerms(l)
	}
	s.spender = spender(c)
}

// HandOver lets a fallback spend in the place of the command before it: under its own name, and from its own budgets too.
func (s *Ledger) HandOver(c *call.Call, budgets []budget.Joined) {
	if len(s.limits)+len(budgets) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range budgets {
		if slices.ContainsFunc(s.limits, func(l *limit) bool { return l.reached.Budget == b.Name }) {
			continue
		}
		s.add(&budgetRef{budget: b.Name, terms: b.Terms})
		s.settleTerms(s.limits[len(s.limits)-1])
	}
	s.spender = spender(c)
	if text := s.environ(); text != "" && c.State != nil {
		others := slices.DeleteFunc(slices.Clone(c.Env), func(kv string) bool { return strings.HasPrefix(kv, ChargeVar+"=") })
		c.Env = append(others, ChargeVar+"="+text)
	}
}

// spender is whom a cost is put down to.
func spender(c *call.Call) budget.Spender {
	return budget.Spender{Profile: c.Profile.Name(), Project: redact.Text(c.Project), Name: redact.Text(c.Settings.Labels.Name)}
}

// settleTerms puts the terms of a budget on file for those who join it by name.
func (s *Ledger) settleTerms(l *limit) {
	if l.book != nil && l.reached.Budget != "" {
		if err := l.book.Settle(); err != nil {
			s.trouble(l, err)
		}
	}
}

// Close removes the book of the run, which counts for nothing after its end.
func (s *Ledger) Close() {
	for _, l := range s.limits {
		if l.isOwn && l.book != nil {
			l.book.Remove()
		}
	}
}

// trouble says once that a limit cannot be counted towards. The work goes on.
func (s *Ledger) trouble(l *limit, err error) {
	if !l.told {
		l.told = true
		s.emit(belaytype.CostNotice{Budget: l.reached.Budget, Err: err})
	}
}

// spends says that the command costs money that it tells of. Others pass limits on, and are never kept from starting.
func spends(c *call.Call) bool {
	return c.Traits.Kind == call.AgentTurn || c.Traits.Kind == call.AgentConversation
}

// Check says which limit keeps an attempt from being started; nil if none does.
func (s *Ledger) Check() *belaytype.MaxCostReached {
	if !s.counts {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.limits {
		now := l.own
		if l.book != nil {
			shared, err := l.book.Check(clock.Now())
			if err != nil {
				s.trouble(l, err)
			}
			now = l.most(s.topUp(l, shared))
		}
		if now.Closed() {
			return l.cause(&now)
		}
	}
	return nil
}

const (
	// topUpWithin is how long is waited for more of a budget that machines of a fleet share, and topUpPoll how often the book is looked at.
	topUpWithin = 2 * time.Second
	topUpPoll   = 20 * time.Millisecond
)

// topUp waits for a moment where a budget is used up only because the rest of it is left to other machines: the member of the fleet has just read in the book that
// this machine has used its share, and gets more of it if there is any.
func (s *Ledger) topUp(l *limit, now budget.Standing) budget.Standing {
	for until := time.Now().Add(topUpWithin); now.Reached() && time.Now().Before(until); time.Sleep(topUpPoll) {
		own, err := l.book.Own(clock.Now())
		if err != nil || own.Reserved == 0 {
			return now
		}
		if !gatefile.Member(s.state.Gates().Dir) { // it was killed, else it would have ended this itself
			if l.book.Unreserve(clock.Now()) != nil {
				return now
			}
		}
		if again, err := l.book.Check(clock.Now()); err == nil {
			now = again
		}
	}
	return now
}

// most is how the limit stands by its book, or by what this run alone has charged, whichever is more: the book may have
// begun anew.
func (l *limit) most(shared budget.Standing) budget.Standing {
	if l.isOwn {
		shared.Spent, shared.Unknown = max(shared.Spent, l.own.Spent), max(shared.Unknown, l.own.Unknown)
	}
	return shared
}

// cause says that the limit is reached.
func (l *limit) cause(s *budget.Standing) *belaytype.MaxCostReached {
	why := l.reached
	why.Spent, why.Limit, why.Window, why.Until = s.Spent, s.Limit, string(s.Window), s.Ends
	if !s.Reached() {
		why.Unknown = s.Unknown
	}
	return &why
}

// Turn charges a model call that has ended, and says which limit is reached by it.
func (s *Ledger) Turn(used verdict.Usage) *belaytype.MaxCostReached {
	if !s.counts {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if used.CostUSD == nil {
		s.unpriced = s.unpriced || used.CostUnknown()
		return nil
	}
	s.charged += *used.CostUSD
	return s.charge(budget.Charge{USD: *used.CostUSD})
}

// Settle charges what an attempt has cost in the end, beyond what was charged for its model calls. If it does not tell, that
// is what it has cost, as far as these have a price; else it counts as unknown.
func (s *Ledger) Settle(used verdict.Usage) {
	if !s.counts {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var c budget.Charge
	switch {
	case used.CostUSD != nil:
		c.USD = *used.CostUSD - s.charged
		if used.Settles > 0 {
			c.USD -= s.open
			c.Unknown = -s.unknown
			s.open, s.unknown = 0, 0
		}
	case used.CostUnknown():
		s.open += s.charged
		if s.unpriced || s.charged == 0 {
			c.Unknown = 1
			s.unknown++
		}
	}
	s.charged, s.unpriced = 0, false
	if c != (budget.Charge{}) {
		s.charge(c)
	}
}

// charge charges all books, and returns the first limit that is reached. The lock is held.
func (s *Ledger) charge(c budget.Charge) (reached *belaytype.MaxCostReached) {
	c.Spender = s.spender
	for _, l := range s.limits {
		l.own.Spent, l.own.Unknown = max(l.own.Spent+c.USD, 0), max(l.own.Unknown+c.Unknown, 0)
		now := l.own
		if l.book != nil {
			shared, err := l.book.Charge(clock.Now(), c)
			if err != nil {
				s.trouble(l, err)
				shared.Terms = l.own.Terms
			}
			now = l.most(s.topUp(l, shared))
		}
		if l.reached.Budget != "" {
			s.notice(l, &now, c)
		}
		if reached == nil && now.Reached() {
			reached = l.cause(&now)
		}
	}
	return reached
}

// notice says that a budget has something in it whose cost is not known, and, once, that it is nearly used up.
func (s *Ledger) notice(l *limit, now *budget.Standing, c budget.Charge) {
	if c.Unknown > 0 {
		s.emit(belaytype.CostNotice{Budget: l.reached.Budget, Unknown: true})
	}
	if now.Low() && !now.Reached() && !l.told && now.Spent-c.USD < 0.8*now.Limit {
		l.told = true
		s.emit(belaytype.CostNotice{Budget: l.reached.Budget, Spent: now.Spent, Limit: now.Limit})
	}
}

// IsBudget says that an invocation has ended because of a budget, which will open again.
func IsBudget(stop *retry.Error) bool {
	if stop == nil {
		return false
	}
	reached, ok := errors.AsType[*belaytype.MaxCostReached](stop.Cause)
	return ok && reached.Budget != ""
}

// CostStop is why there is no further attempt when a limit on cost is reached.
func CostStop(e *belaytype.MaxCostReached) *retry.Error {
	return &retry.Error{Cause: e, NotBefore: e.Until}
}

// CostVerdict is the verdict on an attempt that a limit on cost has ended, or kept from being started.
func CostVerdict(e *belaytype.MaxCostReached) verdict.Verdict {
	v := verdict.Verdict{Class: verdict.LimitReached, Rule: alert.RuleMaxCost, Evidence: e.Error(), Sent: verdict.SentNo}
	if e.Budget != "" {
		v.Rule = alert.RuleBudget
	}
	v.Hint.At = e.Until
	return v
}
