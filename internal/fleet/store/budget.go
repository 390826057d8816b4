package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Spent is what one machine has spent of a budget in a period.
type Spent struct {
	Name, Period string
	Limit        float64 // 0 for none
	USD          float64
	Unknown      int
	Left         float64 // that it goes by: what it may spend before it is told something else
}

// Elsewhere is how a budget stands for one machine.
type Elsewhere struct {
	USD     float64 // that other machines have spent
	Unknown int
	// Share is what this machine may still spend.
	Share float64
}

// ExchangeBudget says what the machine has spent, and returns how the budget stands. What a machine may still spend is leased to it ahead of use: as much as is left,
// divided by twice the number of machines, and more of it when half of that is used.
func (s *Store) ExchangeBudget(ctx context.Context, id Identity, b Spent) (e Elsewhere, err error) {
	err = pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock(hashtextextended($1, 1))", b.Name+"\n"+b.Period); err != nil {
			return err
		}
		var member bool
		var before, shares, mine float64
		var machines int
		err := tx.QueryRow(ctx, `select exists (select from belay.machine where name = $3 and generation = $4 and left_at is null),
	(select count(*) from belay.machine where left_at is null and seen > now() - $5 * interval '1 second'),
	coalesce(sum(usd) filter (where machine <> $3), 0), coalesce(sum(unknown) filter (where machine <> $3), 0)::int, coalesce(sum(usd) filter (where machine = $3), 0),
	(select coalesce(sum(usd), 0) from belay.budget_share where name = $1 and period = $2 and machine <> $3 and expires > now()),
	(select coalesce(sum(usd), 0) from belay.budget_share where name = $1 and period = $2 and machine = $3)
from belay.budget where name = $1 and period = $2`, b.Name, b.Period, id.Name, id.Generation, AwayAfter.Seconds()).
			Scan(&member, &machines, &e.USD, &e.Unknown, &before, &shares, &mine)
		if err != nil {
			return err
		}
		if !member {
			return ErrStale
		}
		e.Share = share(b, e.USD, shares, max(1, machines))
		leased := max(e.Share, b.Left) // it may be spending that, and leaves it to others when it has learned that it has less
		batch := &pgx.Batch{}
		batch.Queue(`insert into belay.budget as b (name, period, machine, usd, unknown) values ($1, $2, $3, $4, $5)
on conflict (name, period, machine) do update set usd = excluded.usd, unknown = excluded.unknown, changed = now()`, b.Name, b.Period, id.Name, b.USD, b.Unknown)
		batch.Queue(`insert into belay.budget_share as b (name, period, machine, generation, usd, expires) values ($1, $2, $3, $4, $5, now() + $6 * interval '1 second')
on conflict (name, period, machine) do update set generation = excluded.generation, usd = excluded.usd, expires = excluded.expires`, b.Name, b.Period, id.Name, id.Generation, leased, LeaseTime.Seconds())
		if b.USD != before || leased != mine {
			batch.Queue("select pg_notify($1, $2)", Channel, Note{Kind: NoteBudget, Machine: id.Name, Key: b.Name}.payload())
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	return e, s.Trouble(err)
}

// share is what a machine may still spend.
func share(b Spent, others, shares float64, machines int) float64 {
	if b.Limit <= 0 {
		return 0
	}
	total := max(0, b.Limit-b.USD-others)
	fair := total
	if machines > 1 {
		fair = total / float64(2*machines)
	}
	left := b.Left
	if left < fair/2 || left > 1.5*fair {
		left = fair
	}
	return max(0, min(left, total-shares))
}

// RenewShares renews what is leased to the machine.
func (s *Store) RenewShares(ctx context.Context, id Identity) error {
	_, err := s.Pool.Exec(ctx, "update belay.budget_share set expires = now() + $2 * interval '1 second' where machine = $1", id.Name, LeaseTime.Seconds())
	return s.Trouble(err)
}

// MachineSpent is what a machine has spent of a budget in its latest period, and what it may still spend.
type MachineSpent struct {
	Name    string  `json:"name"`
	Period  string  `json:"period"`
	Machine string  `json:"machine"`
	USD     float64 `json:"spent"`
	Unknown int     `json:"unknown"` // attempts whose cost is not known
	Share   float64 `json:"share"`   // what is leased to it
}

// Spending is what all machines have spent of budgets, in the latest period of each.
func (s *Store) Spending(ctx context.Context) ([]MachineSpent, error) {
	return Collect(ctx, s, pgx.RowToStructByPos[MachineSpent], `select b.name, b.period, b.machine, b.usd, b.unknown::int, coalesce(h.usd, 0)
from belay.budget b left join belay.budget_share h on h.name = b.name and h.period = b.period and h.machine = b.machine and h.expires > now()
where b.period = (select x.period from belay.budget x where x.name = b.name order by x.changed desc limit 1) order by b.name, b.usd desc, b.machine`)
}
