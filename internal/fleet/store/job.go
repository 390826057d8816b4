package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// DefaultKeepResults is how long jobs and results stay whose submitter does not come back, unless the fleet was told otherwise.
const DefaultKeepResults = 30 * 24 * time.Hour

// DropArchives is the statement that deletes archives which no job needs any more: of the batch $1, or of all batches where that is empty.
const DropArchives = `
with over as (
	update belay.job set archive = null where state = 'over' and archive is not null and ($1 = '' or batch = $1)
)
delete from belay.archive a where ($1 = '' or batch = $1) and not exists (select 1 from belay.job j where j.batch = a.batch and j.archive = a.name and j.state <> 'over')`

// TouchBatch is the statement by which the submitter of the batch $1 says that it is still there.
const TouchBatch = "insert into belay.batch (name) values ($1) on conflict (name) do update set seen = now()"

// PruneJobs deletes jobs whose submitter has not been there for that long, with their results, archives and places in the queue, and returns how many. Jobs
// that are running stay until they are over. While another process prunes, it does nothing.
func (s *Store) PruneJobs(ctx context.Context, keep time.Duration) (removed int64, err error) {
	return s.prune(ctx, func(tx pgx.Tx) (pgconn.CommandTag, error) {
		done, err := tx.Exec(ctx, `
with old as (
	select j.id from belay.job j left join belay.batch b on b.name = j.batch
	where j.state <> 'running' and coalesce(b.seen, j.created) < now() - make_interval(secs => $2) limit $1 for update of j skip locked
)
delete from belay.job j using old where j.id = old.id`, pruneBatch, keep.Seconds())
		if err != nil || done.RowsAffected() > 0 {
			return done, err
		}
		for _, statement := range []string{
			"delete from belay.batch b where seen < now() - make_interval(secs => $1) and not exists (select 1 from belay.job j where j.batch = b.name)",
			// Jobs that were withdrawn leave their place in a queue that no machine listens to.
			`delete from belay.river_job r where kind = 'belay' and state in ('available', 'scheduled', 'retryable') and created_at < now() - least(make_interval(secs => $1), interval '1 hour')
and not exists (select 1 from belay.job j where j.id = (r.args->>'job')::bigint and j.attempt = (r.args->>'attempt')::integer)`,
		} {
			if _, err := tx.Exec(ctx, statement, keep.Seconds()); err != nil {
				return done, err
			}
		}
		_, err = tx.Exec(ctx, DropArchives, "")
		return done, err
	})
}
