package store

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/gate"
)

// Gate is a gate as the fleet knows it. Its times are PostgreSQL's.
type Gate struct {
	State gate.State
	// Elsewhere is how many of the next starts belong to other machines.
	Elsewhere int
	// Before is how many machines take their turn before this one.
	Before int
}

// turnTime is how long a start belongs to a machine that does not renew it.
const turnTime = 3 * time.Second

// ExchangeGate changes a gate in a transaction of which the others are told. change is given PostgreSQL's time, and returns the new state and how many of
// the next starts belong to this machine from now on. The version is that of the gate afterwards.
//
// It takes two round trips where a transaction of pgx takes four: while it lasts, the other machines do not know of a limit.
func (s *Store) ExchangeGate(ctx context.Context, id Identity, key string, change func(now time.Time, g Gate) (state gate.State, granted int)) (version int64, err error) {
	conn, err := s.Pool.Acquire(ctx)
	if err != nil {
		return 0, s.Trouble(err)
	}
	defer conn.Release()
	defer func() {
		if conn.Conn().PgConn().TxStatus() != 'I' && !conn.Conn().IsClosed() {
			conn.Exec(context.WithoutCancel(ctx), "rollback")
		}
	}()
	var now time.Time
	var member, exists bool
	var data []byte
	var elsewhere, had, first int
	ask := &pgx.Batch{}
	ask.Queue("begin")
	ask.Queue("select version, state from belay.gate where key = $1 for update", key).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&version, &data}, func() error {
			exists = true
			return nil
		})
		return err
	})
	ask.Queue(`select clock_timestamp(), exists (select from belay.machine where name = $2 and generation = $3 and left_at is null),
	coalesce(sum(granted) filter (where machine <> $2), 0), coalesce(sum(granted) filter (where machine = $2), 0), (`+before("$2", "$4")+`)
from belay.turn where key = $1 and expires > now()`, key, id.Name, id.Generation, AwayAfter.Seconds()).QueryRow(func(row pgx.Row) error {
		return row.Scan(&now, &member, &elsewhere, &had, &first)
	})
	if err := conn.SendBatch(ctx, ask).Close(); err != nil {
		return 0, s.Trouble(err)
	}
	if !member {
		return 0, ErrStale
	}
	was := Gate{Elsewhere: elsewhere, Before: first}
	if data != nil && json.Unmarshal(data, &was.State) != nil {
		was.State = gate.State{} // no Belay has written this
	}
	state, granted := change(now, was)
	after, err := encodeGate(state, now)
	if err != nil {
		return 0, err
	}
	if !exists && after != nil {
		// Another machine may be making the row too. One of both makes it, and then both are here again.
		if _, err := conn.Exec(ctx, "insert into belay.gate (key, machine) values ($1, $2) on conflict do nothing; commit", pgx.QueryExecModeSimpleProtocol, key, id.Name); err != nil {
			return 0, s.Trouble(err)
		}
		return s.ExchangeGate(ctx, id, key, change)
	}
	answer := &pgx.Batch{}
	changed := !sameJSON(after, data)
	if changed {
		version++
		answer.Queue("update belay.gate set state = $2, version = $3, machine = $4, changed = now() where key = $1", key, after, version, id.Name)
	}
	switch {
	case granted > 0:
		answer.Queue(`insert into belay.turn (key, machine, granted, expires) values ($1, $2, $3, now() + $4 * interval '1 second')
on conflict (key, machine) do update set granted = excluded.granted, expires = excluded.expires`, key, id.Name, granted, turnTime.Seconds())
	case had > 0:
		answer.Queue("delete from belay.turn where key = $1 and machine = $2", key, id.Name)
	}
	if changed || granted < had {
		answer.Queue("select pg_notify($1, $2)", Channel, Note{Kind: NoteGate, Machine: id.Name, Key: key}.payload())
	}
	answer.Queue("commit")
	return version, s.Trouble(conn.SendBatch(ctx, answer).Close())
}

// Before is how many machines take their turn before this one: those that are there, with a smaller name.
func (s *Store) Before(ctx context.Context, id Identity) (n int, err error) {
	err = s.Pool.QueryRow(ctx, before("$1", "$2"), id.Name, AwayAfter.Seconds()).Scan(&n)
	return n, s.Trouble(err)
}

// before is the query for [Store.Before]. Its arguments are placeholders for the name, and for the seconds that a machine may have been silent.
func before(name, seconds string) string {
	return "select count(*) from belay.machine where name < " + name + " and left_at is null and seen > now() - " + seconds + " * interval '1 second'"
}

// encodeGate is the state as the table has it; nil if it is healthy.
func encodeGate(s gate.State, now time.Time) ([]byte, error) {
	if s.Healthy(now) {
		return nil, nil
	}
	data, err := json.Marshal(s)
	return bytes.ReplaceAll(data, []byte(`\u0000`), nil), err // which PostgreSQL refuses
}

// sameJSON reports whether two texts are the same state: PostgreSQL writes JSON in its own way.
func sameJSON(a, b []byte) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	var s gate.State
	if json.Unmarshal(b, &s) != nil {
		return false
	}
	again, err := json.Marshal(s)
	return err == nil && string(again) == string(a)
}

// GateRow is a gate as it stands in the table.
type GateRow struct {
	Version int64
	State   gate.State // the zero value if it is healthy
}

// Gates returns the gates that are not healthy, by their keys.
func (s *Store) Gates(ctx context.Context) (map[string]GateRow, error) {
	return s.gates(ctx, "state is not null")
}

// GatesOf returns the gates with these keys that there are.
func (s *Store) GatesOf(ctx context.Context, keys []string) (map[string]GateRow, error) {
	return s.gates(ctx, "key = any($1)", keys)
}

func (s *Store) gates(ctx context.Context, which string, args ...any) (map[string]GateRow, error) {
	rows, _ := s.Pool.Query(ctx, "select key, version, state from belay.gate where "+which, args...)
	list := map[string]GateRow{}
	var key string
	var version int64
	var data []byte
	_, err := pgx.ForEachRow(rows, []any{&key, &version, &data}, func() error {
		row := GateRow{Version: version}
		if data != nil && json.Unmarshal(data, &row.State) != nil {
			return nil // no Belay has written this
		}
		list[key] = row
		return nil
	})
	return list, s.Trouble(err)
}
