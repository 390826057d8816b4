package history

import (
	"bytes"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/printable"
)

// Price is what it costs to send a history once more.
type Price struct {
	Tokens int64
	USD    *float64 // nil if there is no price for the model
	Cold   bool     // the service has forgotten it, so that all of it is paid for in full
}

// ResumePrice is what a resume of a session costs at a time, by the last request that its record tells of; nil if it tells of none.
func ResumePrice(format *Format, path string, prices *price.Table, at time.Time) *Price {
	var p Price
	var last time.Time
	model, hour := "", false
	_, err := each(path, func(_ int, text []byte) error {
		if !bytes.Contains(text, []byte(`usage`)) && !bytes.Contains(text, []byte(`"turn_context"`)) {
			return nil // most lines, and those that are long
		}
		l, _ := format.Read(text)
		if l.Model != "" && l.Model[0] != '<' {
			model = l.Model
		}
		if u := l.Used; u != nil {
			last, p.Tokens = l.At, u.Input+u.CacheRead+u.CacheWrite+u.CacheWriteHour+u.Output
			if u.CacheWrite+u.CacheWriteHour > 0 {
				hour = u.CacheWriteHour > 0
			}
		}
		return nil
	})
	if err != nil || p.Tokens == 0 {
		return nil
	}
	call := price.Call{CacheRead: p.Tokens}
	switch since := at.Sub(last); {
	case hour && since > time.Hour:
		p.Cold, call = true, price.Call{CacheWriteHour: p.Tokens}
	case !hour && since > format.Kept:
		p.Cold, call = true, price.Call{CacheWrite: p.Tokens}
	}
	if usd, ok := prices.Cost(model, at, call); ok {
		p.USD = &usd
	}
	return &p
}

func (p *Price) String() string {
	text := fmt.Sprintf("%d tokens", p.Tokens)
	if p.USD != nil {
		text += ", " + printable.Dollars(*p.USD)
	}
	if p.Cold {
		return text + " (no longer in the service's cache)"
	}
	return text + " (from the service's cache)"
}
