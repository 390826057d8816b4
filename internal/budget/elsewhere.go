package budget

import (
	"slices"
	"time"
)

// Fleet stands for what other machines of a fleet have spent, and Reserved for what is left to them for now.
var (
	Fleet    = Spender{Profile: "fleet"}
	Reserved = Spender{Profile: "fleet", Name: "reserved"}
)

// Own is what this machine has spent in the present window, which begins with the day in period.
type Own struct {
	Terms
	Period  string
	USD     float64
	Unknown int
	// Reserved is what is left to other machines, and Left what this one may still spend.
	Reserved, Left float64
}

// Own says what this machine has spent itself.
func (b *Book) Own(now time.Time) (o Own, err error) {
	c, err := b.read()
	return c.own(b.terms(&c.head), now), err
}

func (c *content) own(terms Terms, now time.Time) Own {
	o := Own{Terms: terms}
	if terms.Window != "" {
		first, _ := terms.Window.days(now)
		o.Period = string(terms.Window) + " " + first
	}
	s := c.standing(terms, now)
	o.USD, o.Unknown, o.Left = s.Spent, s.Unknown, rounded(max(0, terms.Limit-s.Spent))
	for _, share := range c.shares(terms.Window, now) {
		switch share.Spender {
		case Reserved:
			o.Reserved += share.Spent
			fallthrough
		case Fleet:
			o.USD -= share.Spent
			o.Unknown -= share.Unknown
		}
	}
	o.USD, o.Unknown, o.Reserved = rounded(max(o.USD, 0)), max(o.Unknown, 0), rounded(o.Reserved)
	return o
}

// SetElsewhere puts into the book what other machines have spent, and reserves for them what this machine may not spend: it may spend up to allowance in all.
func (b *Book) SetElsewhere(now time.Time, spent float64, unknown int, allowance float64) error {
	return b.update(func(c *content) bool {
		terms := b.terms(&c.head)
		reserved := 0.0
		if terms.Limit > 0 {
			reserved = rounded(max(0, terms.Limit-allowance-spent))
		}
		changed := c.set(terms.Window, now, Fleet, rounded(spent), unknown)
		return c.set(terms.Window, now, Reserved, reserved, 0) || changed
	})
}

// Unreserve leaves nothing to other machines any longer. What they have spent stays.
func (b *Book) Unreserve(now time.Time) error {
	return b.update(func(c *content) bool { return c.set(b.terms(&c.head).Window, now, Reserved, 0, 0) })
}

// set has a spender have spent so much in the present window, and reports whether that is new.
func (c *content) set(w Window, now time.Time, who Spender, usd float64, unknown int) bool {
	first, next := w.days(now)
	mine := func(s share) bool { return s.Spender == who && s.Day >= first && s.Day < next }
	had := amount{}
	for _, s := range c.By {
		if mine(s) {
			had.USD, had.Unknown = rounded(had.USD+s.USD), had.Unknown+s.Unknown
		}
	}
	if had.USD == usd && had.Unknown == unknown {
		return false
	}
	for _, s := range c.By {
		if mine(s) {
			c.on(s.Day).add(Charge{USD: -s.USD, Unknown: -s.Unknown})
		}
	}
	c.By = slices.DeleteFunc(c.By, mine)
	if usd == 0 && unknown == 0 {
		return true
	}
	day := w.dayOf(now)
	c.on(day).add(Charge{USD: usd, Unknown: unknown})
	c.By = append(c.By, share{who, amount{Day: day, USD: usd, Unknown: unknown}})
	return true
}
