package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/clock"
)

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
