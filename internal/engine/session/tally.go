package session

import "github.com/belay-run/belay/verdict"

// tally adds up what attempts have used, of which some may not have told what they cost.
type tally struct {
	used      verdict.Usage // without the cost
	Cost      *float64      // of those of which it is known, or a part of it; nil if of none
	estimated bool          // some of it is an estimate
	unpriced  int           // of how many nothing is known
}

func (t *tally) add(u verdict.Usage) {
	t.unpriced -= u.Settles
	switch {
	case u.CostUSD != nil:
		sum := *u.CostUSD
		if t.Cost != nil {
			sum += *t.Cost
		}
		t.Cost, t.estimated = &sum, t.estimated || u.Estimated
	case u.CostUnknown():
		t.unpriced++
	}
	u.CostUSD, u.Estimated = nil, false
	t.used = t.used.Add(u)
}

// Sum is all of it. Its cost is known if that of every attempt is.
func (t *tally) Sum() verdict.Usage {
	u := t.used
	if t.unpriced == 0 {
		u.CostUSD, u.Estimated = t.Cost, t.estimated
	}
	return u
}

// account is what is known of the cost of one session, where its CLI tells that of the whole session and not that of an
// attempt.
type account struct {
	session string
	here    tally // what the attempts of this run have used in it
	// told is what it has cost so far, for so many tokens; nil if that is not known.
	told   *float64
	tokens int64
	open   openAttempts
}

// openAttempts are those since a session's cost was told which have not told their own: a later sum may include it.
type openAttempts struct {
	n        int
	unpriced int     // of how many of them there is no estimate
	cost     float64 // the estimates of the others
	tokens   int64
	cut      bool // of one not even the tokens are known
}

// add takes note of what an attempt has used, and finds out what it has cost: estimate is what it comes to by the price list,
// if there is nothing better.
func (a *account) add(u *verdict.Usage, total *float64, totalTokens int64, estimate *float64) {
	own := u.InputTokens + u.OutputTokens
	if total != nil {
		a.price(u, *total, totalTokens-a.tokens-own)
	}
	if u.Unknown {
		u.CostUSD = nil // what was told is not all
	}
	if u.CostUSD == nil && estimate != nil {
		u.CostUSD, u.Estimated = estimate, true
	}
	switch {
	case total != nil:
		a.told, a.tokens, a.open = total, totalTokens, openAttempts{}
	case u.Unknown:
		a.open.cut = true
	case u.CostUnknown():
		a.open.n++
		a.open.unpriced++
		a.open.tokens += own
	case u.Estimated:
		a.open.n++
		a.open.cost += *u.CostUSD
		a.open.tokens += own
	case u.CostUSD != nil && a.told != nil:
		sum := *a.told + *u.CostUSD
		a.told, a.tokens = &sum, a.tokens+own
	}
	a.here.add(*u)
}

// price finds out what an attempt has cost: by how much the session's cost has grown. extra is how many tokens that is for
// beyond the attempt's own. If those are the tokens of attempts that have not told their cost, it is in there too: claude
// keeps it for the session when it is interrupted, though it says nothing, and cannot when it is killed. What was estimated
// for them has been counted.
func (a *account) price(u *verdict.Usage, total float64, extra int64) {
	if a.told == nil {
		return
	}
	cost := max(total-*a.told, 0)
	switch {
	case a.open.n == 0 && !a.open.cut, extra <= 0:
		u.CostUSD = &cost
	case !a.open.cut && extra >= a.open.tokens:
		cost = max(cost-a.open.cost, 0)
		u.CostUSD, u.Settles = &cost, a.open.unpriced
	}
}
