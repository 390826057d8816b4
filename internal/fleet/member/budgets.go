package member

import (
	"context"
	"slices"

	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
)

// budgets carries what is spent of budgets. What the others have spent, and what is left to them, stands in the local book as if it had been spent here: belay run
// then needs to know nothing of them.
type budgets struct {
	*session
	told map[string]budget.Own // what PostgreSQL was last told, by the name
	said string
}

// scan exchanges the budgets of which something was spent here.
func (b *budgets) scan(ctx context.Context) error {
	return b.exchange(ctx, func(string) bool { return false })
}

// look exchanges the budgets with these names, or all if names is nil.
func (b *budgets) look(ctx context.Context, names []string) error {
	return b.exchange(ctx, func(name string) bool { return names == nil || slices.Contains(names, name) })
}

// exchange exchanges those that have changed here, and others that are asked for.
func (b *budgets) exchange(ctx context.Context, also func(name string) bool) error {
	books, err := b.State.Budgets().List()
	if err != nil {
		b.trouble(err)
		return nil
	}
	for _, book := range books {
		less, err := b.exchangeOne(ctx, book, also(book.Name))
		if less && err == nil { // this machine goes by that now, and says so: the others may have the rest
			_, err = b.exchangeOne(ctx, book, true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// exchangeOne exchanges one if it has changed here, or also unchanged, and reports whether what is left to this machine has become less.
func (b *budgets) exchangeOne(ctx context.Context, book *budget.Book, unchanged bool) (less bool, err error) {
	now := clock.Now()
	own, err := book.Own(now)
	if err != nil {
		b.trouble(err)
		return false, nil
	}
	left := own.Left
	own.Reserved, own.Left = 0, 0 // which we have set
	if told, known := b.told[book.Name]; known && told == own && !unchanged {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	e, err := b.store.ExchangeBudget(ctx, b.id, store.Spent{Name: book.Name, Period: own.Period, Limit: own.Limit, USD: own.USD, Unknown: own.Unknown, Left: left})
	if err != nil {
		return false, err
	}
	b.told[book.Name] = own
	if err := book.SetElsewhere(now, e.USD, e.Unknown, own.USD+e.Share); err != nil {
		b.trouble(err)
	}
	return e.Share < left, nil
}

// renew keeps the shares of this machine, and begins those of a new day.
func (b *budgets) renew(ctx context.Context) error {
	if len(b.told) > 0 {
		asking, cancel := context.WithTimeout(ctx, askWithin)
		err := b.store.RenewShares(asking, b.id)
		cancel()
		if err != nil {
			return err
		}
	}
	return b.scan(ctx)
}

// trouble says once that a book could not be used. Work goes on.
func (b *budgets) trouble(err error) {
	if b.said != err.Error() {
		b.said = err.Error()
		b.Say(message.FleetLocalTrouble("budgets", err))
	}
}

// unreserve lets this machine spend the rest of its budgets alone, as without a fleet. Nothing else would free what is reserved for the others.
func (m *Member) unreserve() {
	books, _ := m.State.Budgets().List() // exchange has said what cannot be read
	for _, book := range books {
		if err := book.Unreserve(clock.Now()); err != nil {
			m.Say(message.FleetLocalTrouble("budgets", err))
		}
	}
}
