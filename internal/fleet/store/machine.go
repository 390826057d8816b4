package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/message"
)

const (
	// Heartbeat is how often a member says that it lives.
	Heartbeat = 3 * time.Second
	// AwayAfter is how long a machine may be silent until it counts as away.
	AwayAfter = 15 * time.Second
	// LeaseTime is how long what is leased to a machine stays with it after it was last heard of.
	LeaseTime = 30 * time.Second
)

// Machine is a member of the fleet, as PostgreSQL knows it.
type Machine struct {
	Name       string
	Instance   string // of its state directory
	Generation int64
	Version    string
	Labels     []string
	Draining   bool
	Joined     time.Time
	// Silent is how long ago it was last heard of, by PostgreSQL's clock.
	Silent time.Duration
	// Ahead is how far its clock is ahead of PostgreSQL's.
	Ahead time.Duration
	// Left says that it has left by itself.
	Left bool
}

// Away reports whether it has not been heard of for too long, or has left.
func (m *Machine) Away() bool { return m.Left || m.Silent > AwayAfter }

// Machines lists all machines that have joined, by name.
func (s *Store) Machines(ctx context.Context) ([]Machine, error) {
	return Collect(ctx, s, pgx.RowToStructByPos[Machine], `select name, instance, generation, version, labels, draining, joined, now() - seen, make_interval(secs => clock_ahead),
	left_at is not null from belay.machine order by name`)
}

// UnderWay is how many jobs each machine works on; under the empty name those that wait for one.
func (s *Store) UnderWay(ctx context.Context) (map[string]int, error) {
	type sum struct {
		Machine string
		Jobs    int
	}
	sums, err := Collect(ctx, s, pgx.RowToStructByPos[sum], `select case state when 'running' then coalesce(machine, '') else '' end, count(*) from belay.job
	where state <> 'over' group by 1`)
	jobs := map[string]int{}
	for _, one := range sums {
		jobs[one.Machine] = one.Jobs
	}
	return jobs, err
}

// Identity is a member as it writes: what was decided under an older generation counts no more.
type Identity struct {
	Name       string
	Generation int64
}

// lockOf is the advisory lock that a member has for as long as it listens, by its name.
const lockOf = "hashtextextended('belay machine ' || $1, 0)"

// Join makes a machine a member, with a new generation. The error is [ErrNameTaken] if another machine has the name: one with another state directory that has been heard of lately, or with
// a copy of this one. m.Generation is the one that this process has had; zero if it had none.
//
// A process that has died, and one on another machine with a copy of the state directory, look the same for a while. The one that lives still listens, and says that it does: so
// a machine that restarts joins at once, and one that has lost its power within [AwayAfter].
func (s *Store) Join(ctx context.Context, m Machine) (Identity, error) {
	id := Identity{Name: m.Name}
	for seen := (time.Time{}); ; {
		err := s.Pool.QueryRow(ctx, `insert into belay.machine as m (name, instance, version, labels) values ($1, $2, $3, $4)
on conflict (name) do update set instance = excluded.instance, version = excluded.version, labels = excluded.labels, generation = excluded.generation,
	joined = now(), seen = now(), left_at = null, draining = false
where m.left_at is not null or m.seen < now() - $5 * interval '1 second' or m.instance = excluded.instance and (m.generation = $6 or m.seen < now() - $7 * interval '1 second'
	or not exists (select from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
		where l.locktype = 'advisory' and l.objsubid = 1 and l.granted and l.classid::bigint << 32 | l.objid::bigint = `+lockOf+`)) returning generation`,
			m.Name, m.Instance, m.Version, m.Labels, LeaseTime.Seconds(), m.Generation, AwayAfter.Seconds()).Scan(&id.Generation)
		if !errors.Is(err, pgx.ErrNoRows) {
			return id, s.Trouble(err)
		}
		var same bool
		var now time.Time
		err = s.Pool.QueryRow(ctx, "select instance = $2, seen from belay.machine where name = $1", m.Name, m.Instance).Scan(&same, &now)
		switch {
		case errors.Is(err, pgx.ErrNoRows): // it was removed meanwhile
			continue
		case err != nil:
			return id, s.Trouble(err)
		case !same:
			return id, message.Error(fmt.Sprintf("another machine is in the fleet as %s; choose another name with --name", m.Name), ErrNameTaken)
		case !seen.IsZero() && now.After(seen):
			return id, message.Error(fmt.Sprintf("another machine with a copy of this state directory is in the fleet as %s; choose another name with --name", m.Name), ErrNameTaken)
		}
		seen = now
		select {
		case <-ctx.Done():
			return id, s.Trouble(ctx.Err())
		case <-time.After(Heartbeat / 10):
		}
	}
}

// Beat says that the member lives, by a connection of its own, and returns PostgreSQL's time. The error is [ErrStale] if it has been silent for so long that
// others have what was leased to it, or was removed.
func Beat(ctx context.Context, conn *pgx.Conn, id Identity, ahead time.Duration) (now time.Time, draining bool, err error) {
	err = conn.QueryRow(ctx, `update belay.machine set seen = now(), clock_ahead = $3
where name = $1 and generation = $2 and left_at is null and seen > now() - $4 * interval '1 second' returning clock_timestamp(), draining`,
		id.Name, id.Generation, ahead.Seconds(), LeaseTime.Seconds()).Scan(&now, &draining)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrStale
	}
	return now, draining, err
}

// Leave gives back all that is leased to the machine, and says that it has gone. Slots that its runs still use stay leased until that is over by itself, or it joins again.
func (s *Store) Leave(ctx context.Context, id Identity, busy ...Slot) error {
	return s.Trouble(pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "update belay.machine set left_at = now(), seen = now() where name = $1 and generation = $2", id.Name, id.Generation)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return release(ctx, tx, id.Name, busy)
	}))
}

// Drain asks a machine to finish what it does and to leave. Its member sees it with its next heartbeat.
func (s *Store) Drain(ctx context.Context, name string) error {
	tag, err := s.Pool.Exec(ctx, "update belay.machine set draining = true where name = $1 and left_at is null", name)
	if err == nil && tag.RowsAffected() == 0 {
		return message.Error(message.FleetNoMachine(name))
	}
	return s.Trouble(err)
}

// Remove forgets a machine that has left, or has not been heard of for some time, and frees what is leased to it.
func (s *Store) Remove(ctx context.Context, name string) error {
	return s.Trouble(pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		var there bool
		err := tx.QueryRow(ctx, "select left_at is null and seen > now() - $2 * interval '1 second' from belay.machine where name = $1 for update", name, AwayAfter.Seconds()).Scan(&there)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return message.Error(message.FleetNoMachine(name), errTold)
		case err != nil:
			return err
		case there:
			return message.Error(fmt.Sprintf("%s is still in the fleet; have it leave with: belay fleet drain %s", name, name), errTold)
		}
		if _, err := tx.Exec(ctx, "delete from belay.machine where name = $1", name); err != nil {
			return err
		}
		return release(ctx, tx, name, nil)
	}))
}

// release frees all that is leased to a machine but for these slots, and tells the others.
func release(ctx context.Context, tx pgx.Tx, machine string, busy []Slot) error {
	keys, indexes := []string{}, []int{}
	for _, slot := range busy {
		keys, indexes = append(keys, slot.Key), append(indexes, slot.Index)
	}
	if _, err := tx.Exec(ctx, "delete from belay.slot where machine = $1 and (key, index) not in (select * from unnest($2::text[], $3::integer[]))", machine, keys, indexes); err != nil {
		return err
	}
	for _, table := range []string{"turn", "slot_want", "budget_share", "run"} {
		if _, err := tx.Exec(ctx, "delete from belay."+table+" where machine = $1", machine); err != nil {
			return err
		}
	}
	return notify(ctx, tx, Note{Kind: NoteMachine, Machine: machine})
}

// Run is a run that is under way on a machine.
type Run struct {
	Machine string
	ID      string
	// Record is what the machine says of it, as JSON. Its times are PostgreSQL's.
	Record json.RawMessage
}

// PutRuns says which runs are under way on a machine, and what of them has changed: by their ids. It is [ErrStale] if its generation is over.
func (s *Store) PutRuns(ctx context.Context, id Identity, all []string, changed map[string][]byte) error {
	ids, records := make([]string, 0, len(changed)), make([]string, 0, len(changed))
	for run, record := range changed {
		ids, records = append(ids, run), append(records, string(record))
	}
	var member int
	err := s.Pool.QueryRow(ctx, `
with member as (select 1 from belay.machine where name = $1 and generation = $2 and left_at is null),
gone as (delete from belay.run r using member where r.machine = $1 and not r.id = any($3::text[])),
put as (
	insert into belay.run (machine, id, generation, record)
	select $1, r.id, $2, r.record::json from member, unnest($4::text[], $5::text[]) as r (id, record)
	on conflict (machine, id) do update set generation = excluded.generation, record = excluded.record, changed = now())
select count(*) from member`, id.Name, id.Generation, all, ids, records).Scan(&member)
	if err == nil && member == 0 {
		return ErrStale
	}
	return s.Trouble(err)
}

// Runs are the runs under way on the machines that are there, by machine and id.
func (s *Store) Runs(ctx context.Context) ([]Run, error) {
	return Collect(ctx, s, pgx.RowToStructByPos[Run], `select r.machine, r.id, r.record from belay.run r join belay.machine m on m.name = r.machine and m.generation = r.generation
where m.left_at is null and m.seen > now() - $1 * interval '1 second' order by r.machine, r.id`, AwayAfter.Seconds())
}

// Ahead is how far the clock of this machine is ahead of PostgreSQL's, as far as one question can tell.
func (s *Store) Ahead(ctx context.Context) (time.Duration, error) {
	var now time.Time
	asked, started := clock.Now(), time.Now()
	err := s.Pool.QueryRow(ctx, "select clock_timestamp()").Scan(&now)
	took := time.Since(started)
	return asked.Add(took / 2).Sub(now), s.Trouble(err)
}
