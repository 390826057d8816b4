package engine

import "github.com/belay-run/belay/verdict"

// tally adds up what attempts have used, of which some may not have told what they cost.
type tally struct {
	used     verdict.Usage // without the cost
	cost     *float64      // of those that have told it; nil if none has
	unpriced int           // how many have not
}

func (t *tally) add(u verdict.Usage) {
	if t.unpriced -= u.Settles; u.CostUnknown() {
		t.unpriced++
	} else if u.CostUSD != nil {
		sum := *u.CostUSD
		if t.cost != nil {
			sum += *t.cost
		}
		t.cost = &sum
	}
	u.CostUSD = nil
	t.used = t.used.Add(u)
}

// sum is all of it. Its cost is known if that of every attempt is.
func (t *tally) sum() verdict.Usage {
	u := t.used
	if t.unpriced == 0 {
		u.CostUSD = t.cost
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
	// Attempts since then that have not told their cost: a later sum may include it. cut says that of one not even the
	// tokens are known.
	open       int
	openTokens int64
	cut        bool
}

// add takes note of what an attempt has used, and finds out what it has cost.
func (a *account) add(u *verdict.Usage, total *float64, totalTokens int64) {
	own := u.InputTokens + u.OutputTokens
	if total != nil {
		a.price(u, *total, totalTokens-a.tokens-own)
	}
	if u.Unknown {
		u.CostUSD = nil // what was told is not all
	}
	switch {
	case total != nil:
		a.told, a.tokens = total, totalTokens
		a.open, a.openTokens, a.cut = 0, 0, false
	case u.Unknown:
		a.cut = true
	case u.CostUnknown():
		a.open++
		a.openTokens += own
	case u.CostUSD != nil && a.told != nil:
		sum := *a.told + *u.CostUSD
		a.told, a.tokens = &sum, a.tokens+own
	}
	a.here.add(*u)
}

// price finds out what an attempt has cost: by how much the session's cost has grown. extra is how many tokens that is for
// beyond the attempt's own. If those are the tokens of attempts that have not told their cost, it is in there too: claude
// keeps it for the session when it is interrupted, though it says nothing, and cannot when it is killed.
func (a *account) price(u *verdict.Usage, total float64, extra int64) {
	if a.told == nil {
		return
	}
	cost := max(total-*a.told, 0)
	switch {
	case a.open == 0 && !a.cut, extra <= 0:
		u.CostUSD = &cost
	case !a.cut && extra >= a.openTokens:
		u.CostUSD, u.Settles = &cost, a.open
	}
}
