package store

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrMoved says that another process has shipped the log meanwhile, or that PostgreSQL has lost what it had.
var ErrMoved = errors.New("the log's position has changed")

// LogPosition is how far a file of a machine's log is in PostgreSQL.
type LogPosition struct {
	Machine  string
	Identity string // of the file
	Position int64
	Tail     string // of what stands before the position
	Edition  int    // how often the file was changed by hand
}

// LogLine is a line of a machine's log, and where it begins.
type LogLine struct {
	Position int64
	Text     []byte
	// Ahead is how far the clock of the machine was ahead of PostgreSQL's when the line was shipped.
	Ahead time.Duration
}

// LogPositions are the positions of a machine; of all machines if it has no name.
func (s *Store) LogPositions(ctx context.Context, machine string) ([]LogPosition, error) {
	return Collect(ctx, s, pgx.RowToStructByPos[LogPosition],
		"select machine, identity, position, tail, edition from belay.log_position where $1 = '' or machine = $1 order by machine, changed, identity", machine)
}

// AddLog adds lines and moves the position from where it is known to be, in one transaction: whatever happens in between, each line is there once.
// If the position is another one, nothing is added and the error is ErrMoved; if the machine's generation is over, it is ErrStale.
func (s *Store) AddLog(ctx context.Context, id Identity, from, to LogPosition, lines []LogLine) error {
	positions, texts, ahead := make([]int64, len(lines)), make([][]byte, len(lines)), make([]float64, len(lines))
	for i, l := range lines {
		positions[i], texts[i], ahead[i] = l.Position, l.Text, l.Ahead.Seconds()
	}
	return s.moveLog(ctx, s.Pool.QueryRow(ctx, `
with member as (select 1 from belay.machine where name = $1 and generation = $2 and left_at is null),
moved as (
	insert into belay.log_position as p (machine, identity, position, tail, edition) select $1, $3, $4, $5, $6 from member
	on conflict (machine, identity) do update set position = excluded.position, tail = excluded.tail, changed = now() where p.position = $7 and p.edition = $6
	returning 1),
added as (
	insert into belay.log_line (machine, identity, position, line, clock_ahead)
	select $1, $3, l.position, l.line, l.ahead from moved, unnest($8::bigint[], $9::bytea[], $10::real[]) with ordinality as l (position, line, ahead, n) order by n)
select (select count(*) from member), (select count(*) from moved)`,
		id.Name, id.Generation, from.Identity, to.Position, to.Tail, from.Edition, from.Position, positions, texts, ahead))
}

// ResetLog forgets the lines of a file, which was changed by hand: what it has now is shipped as another edition. Errors are those of AddLog.
func (s *Store) ResetLog(ctx context.Context, id Identity, at LogPosition) error {
	return s.moveLog(ctx, s.Pool.QueryRow(ctx, `
with member as (select 1 from belay.machine where name = $1 and generation = $2 and left_at is null),
moved as (
	update belay.log_position set position = 0, tail = '', edition = edition + 1, changed = now() from member
	where machine = $1 and identity = $3 and position = $4 and edition = $5 returning 1),
gone as (delete from belay.log_line l using moved where l.machine = $1 and l.identity = $3)
select (select count(*) from member), (select count(*) from moved)`,
		id.Name, id.Generation, at.Identity, at.Position, at.Edition))
}

func (s *Store) moveLog(ctx context.Context, row pgx.Row) error {
	var member, moved int
	switch err := row.Scan(&member, &moved); {
	case err != nil:
		return s.Trouble(err)
	case member == 0:
		return ErrStale
	case moved == 0:
		return ErrMoved
	}
	return nil
}

// LogLines reads lines of files from those positions on, up to so many of each, as PostgreSQL has them at one moment. next says for each file where
// to go on; it is -1 for one that has another edition by now.
func (s *Store) LogLines(ctx context.Context, from []LogPosition, limit int) (lines [][]LogLine, next []int64, err error) {
	lines, next = make([][]LogLine, len(from)), make([]int64, len(from))
	machines, identities, positions, editions := make([]string, len(from)), make([]string, len(from)), make([]int64, len(from)), make([]int, len(from))
	for i, p := range from {
		machines[i], identities[i], positions[i], editions[i], next[i] = p.Machine, p.Identity, p.Position, p.Edition, -1
	}
	rows, _ := s.Pool.Query(ctx, `select f.n - 1, p.position, l.position, l.line, make_interval(secs => coalesce(l.clock_ahead, 0))
from unnest($1::text[], $2::text[], $3::bigint[], $4::integer[]) with ordinality as f (machine, identity, start, edition, n)
join belay.log_position p on p.machine = f.machine and p.identity = f.identity and p.edition = f.edition
left join lateral (select position, line, clock_ahead from belay.log_line x where x.machine = f.machine and x.identity = f.identity and x.position >= f.start
	order by x.position limit $5) l on true
order by f.n, l.position`, machines, identities, positions, editions, limit)
	var n, end int64
	var at *int64
	var text []byte
	var ahead time.Duration
	_, err = pgx.ForEachRow(rows, []any{&n, &end, &at, &text, &ahead}, func() error {
		next[n] = end
		if at == nil {
			return nil
		}
		if lines[n] = append(lines[n], LogLine{*at, bytes.Clone(text), ahead}); len(lines[n]) == limit {
			next[n] = *at + 1 // lines are known by where they begin, and a redacted one has another length
		}
		return nil
	})
	return lines, next, s.Trouble(err)
}

// DefaultKeep is how long lines of logs stay in PostgreSQL, unless the fleet was told otherwise.
const DefaultKeep = 90 * 24 * time.Hour

// pruning is the advisory lock under which old lines are removed: one member does it.
const pruning = migrating + 1

// pruneBatch is how many lines are removed in one transaction.
const pruneBatch = 5000

// PruneLog removes lines that have been there for longer than that, oldest first, and says how many. While another process does so it does nothing.
func (s *Store) PruneLog(ctx context.Context, keep time.Duration) (removed int64, err error) {
	return s.prune(ctx, func(tx pgx.Tx) (pgconn.CommandTag, error) {
		return tx.Exec(ctx, `delete from belay.log_line where seq in (
	select seq from (select seq, added from belay.log_line order by seq limit $1) oldest where added < now() - make_interval(secs => $2))`, pruneBatch, keep.Seconds())
	})
}

// prune removes some rows in a transaction, and again until there are none left.
func (s *Store) prune(ctx context.Context, some func(pgx.Tx) (pgconn.CommandTag, error)) (removed int64, err error) {
	for {
		var done pgconn.CommandTag
		err := pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
			var held bool
			err := tx.QueryRow(ctx, "select pg_try_advisory_xact_lock($1)", int64(pruning)).Scan(&held)
			if err == nil && held {
				done, err = some(tx)
			}
			return err
		})
		removed += done.RowsAffected()
		if err != nil || done.RowsAffected() == 0 {
			return removed, s.Trouble(err)
		}
	}
}

// Settings are what holds for the fleet as a whole.
type Settings struct {
	ID   string
	Keep time.Duration // of lines of logs
	// KeepResults is how long jobs and results are kept whose submitter does not come back.
	KeepResults time.Duration
}

// Settings reads them.
func (s *Store) Settings(ctx context.Context) (all Settings, err error) {
	var keep, keepResults int64
	err = s.Pool.QueryRow(ctx, `select coalesce((select value from belay.setting where name = 'id'), ''),
	coalesce((select value from belay.setting where name = 'keep')::bigint, $1), coalesce((select value from belay.setting where name = 'keep_results')::bigint, $2)`,
		int64(DefaultKeep.Seconds()), int64(DefaultKeepResults.Seconds())).Scan(&all.ID, &keep, &keepResults)
	all.Keep, all.KeepResults = time.Duration(keep)*time.Second, time.Duration(keepResults)*time.Second
	return all, s.Trouble(err)
}

// SetKeep sets how long lines of logs are kept, and SetKeepResults jobs and results whose submitter does not come back.
func (s *Store) SetKeep(ctx context.Context, keep time.Duration) error {
	return s.setSeconds(ctx, "keep", keep)
}

func (s *Store) SetKeepResults(ctx context.Context, keep time.Duration) error {
	return s.setSeconds(ctx, "keep_results", keep)
}

func (s *Store) setSeconds(ctx context.Context, name string, value time.Duration) error {
	_, err := s.Pool.Exec(ctx, "insert into belay.setting (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value",
		name, strconv.FormatInt(int64(value.Seconds()), 10))
	return s.Trouble(err)
}

// LogStamp is another one when lines were added to any log.
func (s *Store) LogStamp(ctx context.Context) (stamp string, err error) {
	err = s.Pool.QueryRow(ctx, "select concat_ws(' ', count(*), sum(position), sum(edition)) from belay.log_position").Scan(&stamp)
	return stamp, s.Trouble(err)
}
