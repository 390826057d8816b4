package agent

import (
	"time"

	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/verdict"
)

// ModelCall is a call to a model that was answered: what it has used, and the same as the price list counts it.
type ModelCall struct {
	Model string
	Used  verdict.Usage
	Price price.Call
}

// ModelCalls are calls to models, as the record of a CLI has them.
type ModelCalls []ModelCall

// Usage is what they have used.
func (calls ModelCalls) Usage() (u verdict.Usage) {
	for _, c := range calls {
		u = u.Add(c.Used)
	}
	return u
}

// Cost is what they cost by the price list; nil if there was none, or one has no price.
func (calls ModelCalls) Cost(prices *price.Table) *float64 {
	if len(calls) == 0 {
		return nil
	}
	sum := 0.0
	for _, c := range calls {
		usd, ok := prices.Cost(c.Model, time.Now(), c.Price)
		if !ok {
			return nil
		}
		sum += usd
	}
	return &sum
}

// Turn is what they have used, with its cost, as of [LineInfo.Turn]; nil if there was none.
func (calls ModelCalls) Turn(prices *price.Table) *verdict.Usage {
	if len(calls) == 0 {
		return nil
	}
	u := calls.Usage()
	u.CostUSD = calls.Cost(prices)
	u.Estimated = u.CostUSD != nil
	return &u
}
