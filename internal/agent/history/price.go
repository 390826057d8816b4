package history

import (
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/printable"
)

// Price is what it costs to send a history once more.
type Price struct {
	Tokens int64    // 0 if that is not known
	USD    *float64 // nil if there is no price for the model
	Cold   bool     // the service has forgotten it, so that all of it is paid for in full
}

// Price is what a resume costs at a time, by the last request that the record tells of.
func (r *Report) Price(prices *price.Table, at time.Time) (p Price) {
	p.Tokens = sent(&r.used) + r.used.Output
	call := price.Call{CacheRead: p.Tokens}
	switch since := at.Sub(r.usedAt); {
	case r.hour && since > time.Hour:
		p.Cold, call = true, price.Call{CacheWriteHour: p.Tokens}
	case !r.hour && since > r.format.Kept:
		p.Cold, call = true, price.Call{CacheWrite: p.Tokens}
	}
	if usd, ok := prices.Cost(r.model, at, call); ok {
		p.USD = &usd
	}
	return p
}

// sent is how many tokens a request has sent.
func sent(u *price.Call) int64 { return u.Input + u.CacheRead + u.CacheWrite + u.CacheWriteHour }

func (p Price) String() string {
	text := fmt.Sprintf("%d tokens", p.Tokens)
	if p.USD != nil {
		text += ", " + printable.Dollars(*p.USD)
	}
	switch {
	case p.Tokens == 0:
		return ""
	case p.Cold:
		return text + " (no longer in the service's cache)"
	}
	return text + " (from the service's cache)"
}
