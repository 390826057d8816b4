package jobs

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// reaping is the advisory lock of the one worker that looks for leases that are over.
const reaping = 0x62656c61796a // "belayj"

// reap looks for jobs whose machine has gone, until ctx ends. Each worker does; one at a time.
func (w *Worker) reap(ctx context.Context) {
	tick := time.NewTicker(paced(reapEvery))
	defer tick.Stop()
	for idle := 1; ; idle++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.mu.Lock()
		if len(w.held) > 0 {
			idle = 0
		}
		w.mu.Unlock()
		w.reapOnce(ctx, idle > 0 && idle%orphansEvery == 0)
		w.addQueues(ctx)
		w.tidy(ctx)
	}
}

// orphansEvery is how often a worker that has nothing to do looks for jobs that are not in the queue, as a multiple of reapEvery. While there are others to do, these
// can wait, and there may be very many.
const orphansEvery = 3

// reapAtMost is how many jobs are put into the queue at a time, so that the statements end in time however many there are. The rest comes with the next look.
const reapAtMost = 5000

// reapOnce takes back the jobs whose lease is over and puts them into the queue again. Right after a start of PostgreSQL nothing is taken back: machines
// that could not renew their leases meanwhile do so first.
//
// With orphans, jobs come back too that are ready and not in the queue. That happens when PostgreSQL loses transactions that it had confirmed, as with a copy
// that takes over too early: River has put the job down as completed since then.
func (w *Worker) reapOnce(ctx context.Context, orphans bool) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	return pgx.BeginFunc(ctx, w.Store.Pool, func(tx pgx.Tx) error {
		var ours bool
		if err := tx.QueryRow(ctx, "select pg_try_advisory_xact_lock($1) and now() > pg_postmaster_start_time() + $2", int64(reaping), paced(2*renewEvery)).Scan(&ours); err != nil || !ours {
			return err
		}
		if err := keepLost(ctx, tx); err != nil {
			return err
		}
		// River knows nothing of leases: its job would stay in progress. The second part finds jobs that a machine has fetched from
		// the queue and never taken, because it died in between.
		rows, _ := tx.Query(ctx, `
with over as (
	select id from belay.job where state = 'running' and lease < now()
	union
	select j.id from belay.river_job r join belay.job j on j.id = (r.args->>'job')::bigint and j.attempt = (r.args->>'attempt')::integer
	where r.kind = 'belay' and r.state = 'running' and r.attempted_at < now() - $1::interval and j.state = 'ready'
	union
	select j.id from belay.job j where $2 and j.state = 'ready' and not exists (select from belay.river_job r
		where r.kind = 'belay' and r.state in ('available', 'pending', 'retryable', 'running', 'scheduled') and (r.args->>'job')::bigint = j.id and (r.args->>'attempt')::integer = j.attempt)
), locked as (
	select id from belay.job where id in (select id from over) and (state = 'ready' or lease < now()) limit $3 for update skip locked
)
update belay.job j set state = 'ready', attempt = attempt + case when state = 'running' and river is null then 0 else 1 end, lease = null, machine = null from locked where j.id = locked.id
returning j.id, j.attempt, j.needs, j.refused`, paced(leaseTime), orphans, reapAtMost)
		refs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (ref reference, err error) {
			err = row.Scan(&ref.Job, &ref.Attempt, &ref.needs, &ref.refused)
			return ref, err
		})
		if err != nil {
			return err
		}
		if err := enqueue(ctx, tx, refs); err != nil {
			return err
		}
		// Jobs that only River still counts as running.
		_, err = tx.Exec(ctx, `update belay.river_job r set state = 'cancelled', finalized_at = now() where r.kind = 'belay' and r.state = 'running' and r.attempted_at < now() - $1::interval
and not exists (select 1 from belay.job j where j.id = (r.args->>'job')::bigint and j.attempt = (r.args->>'attempt')::integer and j.state in ('ready', 'running'))`, paced(leaseTime))
		return err
	})
}
