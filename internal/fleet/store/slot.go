package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// Slot is one of the slots of a key.
type Slot struct {
	Key   string
	Index int
}

// wantTime is how long a machine counts as waiting for a slot that it does not ask for again.
const wantTime = 5 * time.Second

// SlotsWanted are the keys of slots of this machine for which other machines wait.
func (s *Store) SlotsWanted(ctx context.Context, id Identity) ([]string, error) {
	return Collect(ctx, s, pgx.RowTo[string],
		"select distinct w.key from belay.slot_want w join belay.slot s on s.key = w.key and s.machine = $1 where w.machine <> $1 and w.expires > now()", id.Name)
}

// LeaseSlot leases one of the n slots of a key to the machine. ok is false if all are leased; then the others are asked to give back one that they do
// not use. The slot with a certain index is leased where that is not negative.
func (s *Store) LeaseSlot(ctx context.Context, id Identity, key string, n, index int) (leased int, ok bool, err error) {
	err = pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		// One machine at a time, for each key: two that look for a free one would find the same.
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock(hashtextextended($1, 0))", "belay slots of "+key); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `insert into belay.slot as s (key, index, machine, generation, expires)
select $1, i, m.name, m.generation, now() + $5 * interval '1 second' from generate_series(greatest($6, 0), case when $6 < 0 then $4 - 1 else $6 end) i, belay.machine m
where m.name = $2 and m.generation = $3 and m.left_at is null and not exists (select from belay.slot o where o.key = $1 and o.index = i and o.expires > now())
order by i limit 1
on conflict (key, index) do update set machine = excluded.machine, generation = excluded.generation, expires = excluded.expires returning index`,
			key, id.Name, id.Generation, n, LeaseTime.Seconds(), index).Scan(&leased)
		if ok = err == nil; ok {
			_, err := tx.Exec(ctx, "delete from belay.slot_want where key = $1 and machine = $2", key, id.Name)
			return err
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if index >= 0 { // it is another's, and no other will do
			return nil
		}
		if _, err := tx.Exec(ctx, `insert into belay.slot_want (key, machine, expires) select $1, name, now() + $4 * interval '1 second' from belay.machine where name = $2 and generation = $3 and left_at is null
on conflict (key, machine) do update set expires = excluded.expires`, key, id.Name, id.Generation, wantTime.Seconds()); err != nil {
			return err
		}
		return notify(ctx, tx, Note{Kind: NoteSlot, Machine: id.Name, Key: key})
	})
	return leased, ok && err == nil, s.Trouble(err)
}

// FreeSlot gives a slot back, and tells the others.
func (s *Store) FreeSlot(ctx context.Context, id Identity, slot Slot) error {
	return s.Trouble(pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "delete from belay.slot where key = $1 and index = $2 and machine = $3", slot.Key, slot.Index, id.Name)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return notify(ctx, tx, Note{Kind: NoteSlotFree, Machine: id.Name, Key: slot.Key})
	}))
}

// RenewSlots renews the leases of the machine, and returns those that it has. One that had expired may be another's by now.
func (s *Store) RenewSlots(ctx context.Context, id Identity) ([]Slot, error) {
	return Collect(ctx, s, pgx.RowToStructByPos[Slot], `update belay.slot s set expires = now() + $3 * interval '1 second', generation = m.generation from belay.machine m
where s.machine = $1 and m.name = $1 and m.generation = $2 and m.left_at is null returning s.key, s.index`, id.Name, id.Generation, LeaseTime.Seconds())
}
