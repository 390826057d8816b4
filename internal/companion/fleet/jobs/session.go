package jobs

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

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
