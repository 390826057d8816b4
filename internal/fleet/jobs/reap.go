package jobs

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/fleet/store"
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

// tidyEvery is how often workers delete archives that no job needs any more. The submitter does it at its end, unless it was killed.
const tidyEvery = time.Minute

// tidy deletes archives that are not needed any more, here and in PostgreSQL. What fails is done the next time.
func (w *Worker) tidy(ctx context.Context) {
	if time.Since(w.tidied) < tidyEvery {
		return
	}
	w.tidied = time.Now()
	w.archives.forget()
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	w.Store.Pool.Exec(ctx, store.DropArchives, "")
}

// The session of an agent is on the machine that has begun it, and is continued there. If that machine loses the job, no other one gets it for keepTime:
// the row stays the machine's, with the next attempt and without a job of River. So what the machine has said before is not believed any more, but it can
// take the job up again, with what it still runs, with a result that it could not report, or with the session. What it does not take up in time goes to any
// machine, and begins again.

// keepTime is how long a job whose lease is over waits for the machine that has its session.
const keepTime = 60 * time.Second

// ownWork is the job of River of one that a machine has taken up again by itself.
const ownWork = -1

// keep keeps a job for this machine, which stops for a while.
func (c *batcher) keep(ctx context.Context, r report) (accepted bool, err error) {
	done, err := c.store.Pool.Exec(ctx, `update belay.job set attempt = attempt + 1, lease = now() + $4, river = null, session = $5, session_machine = $3, doing = ''
where id = $1 and attempt = $2 and state = 'running' and machine = $3 and river is not null`, r.job, r.attempt, c.machine, paced(keepTime), r.session)
	return err == nil && done.RowsAffected() > 0, err
}

// keepLost keeps the jobs of machines that have lost them, for those that have a session of theirs.
func keepLost(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `update belay.job set attempt = attempt + 1, lease = now() + $1, river = null, doing = '' where id in
(select id from belay.job where state = 'running' and lease < now() and session is not null and session_machine = machine and river is not null and not cancelled for update skip locked)`, paced(keepTime))
	return err
}

// regain takes up the jobs of this machine that have a session, at its start: at most so many. What they ran in has ended with the one before.
func (w *Worker) regain(ctx context.Context, most int) ([]claimed, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	rows, _ := w.Store.Pool.Query(ctx, `with taken as (update belay.job set attempt = attempt + case when river is null then 0 else 1 end, lease = now() + $2, river = $3, started = now(), doing = ''
where id in (select id from belay.job where state = 'running' and machine = $1 and session_machine = $1 and session is not null and not cancelled order by id limit $4 for update)
returning id, attempt, batch, task, hash, needs, payload, session, cost, cardinality(refused) refusals)
select id, attempt, batch, task, hash, needs, case when sum(octet_length(payload)) over (order by id) <= $5 then payload end, octet_length(payload), session, cost, refusals, now() from taken`,
		w.Machine, paced(leaseTime), ownWork, most, fetchedTogether)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c claimed, err error) {
		err = row.Scan(&c.job, &c.attempt, &c.batch, &c.task, &c.hash, &c.needs, &c.payload, &c.size, &c.session, &c.paid, &c.refusals, &c.now)
		c.here = time.Now()
		c.setBegun()
		return c, err
	})
}

// workOwn works on jobs that this machine has taken up again, without River.
func (w *Worker) workOwn(ctx context.Context, list []claimed) {
	for _, c := range list {
		w.slots <- struct{}{} // there are as many
		w.own.Go(func() {
			defer func() { <-w.slots }()
			w.work(context.WithoutCancel(ctx), c)
		})
	}
}
