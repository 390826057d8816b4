package jobs

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/supervise"
)

// renew renews the leases of all jobs that this machine works on, and says that it is there.
func (w *Worker) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	w.observe()
	w.mu.Lock()
	var ids, reported []int64
	var attempts, at []int
	var doing, sessions []string
	var costs []float64
	held := map[fence]*attempt{}
	for f, a := range w.held {
		if a.reported {
			reported, at = append(reported, f.job), append(at, f.attempt)
			continue
		}
		ids, attempts, doing, costs, sessions = append(ids, f.job), append(attempts, f.attempt), append(doing, a.doing), append(costs, a.paid+a.cost), append(sessions, a.inSession)
		held[f] = a
	}
	drained := w.drained
	w.mu.Unlock()
	batch := &pgx.Batch{}
	batch.Queue(`insert into belay.worker (machine, workers, labels, draining) values ($1, $2, $3, $4)
on conflict (machine) do update set workers = excluded.workers, labels = excluded.labels, draining = excluded.draining, seen = now()`, w.Machine, w.Count, append([]string{}, w.Labels...), drained)
	cancelled, kept := map[fence]bool{}, map[fence]int{}
	if len(ids) > 0 {
		// One that is ready was taken by this machine, and PostgreSQL has lost that. One that was lost and is kept for this machine is its own again, with the
		// next attempt: nothing of it runs elsewhere.
		batch.Queue(`update belay.job j set lease = now() + $6, doing = u.doing, cost = u.cost, state = 'running', machine = $7, river = coalesce(j.river, $8),
	session = coalesce(nullif(u.session, ''), j.session), session_machine = case when u.session = '' then j.session_machine else $7 end
from unnest($1::bigint[], $2::integer[], $3::text[], $4::float8[], $5::text[]) u(id, attempt, doing, cost, session)
where j.id = u.id and (j.attempt = u.attempt and (j.state = 'running' and j.machine = $7 or j.state = 'ready')
	or j.attempt = u.attempt + 1 and j.river is null and j.state = 'running' and j.machine = $7)
returning j.id, u.attempt, j.attempt, j.cancelled`, ids, attempts, doing, costs, sessions, paced(leaseTime), w.Machine, ownWork).Query(func(rows pgx.Rows) error {
			var f fence
			var now int
			var c bool
			_, err := pgx.ForEachRow(rows, []any{&f.job, &f.attempt, &now, &c}, func() error {
				delete(held, f)
				if cancelled[f] = c; now != f.attempt {
					kept[f] = now
				}
				return nil
			})
			return err
		})
	}
	if len(reported) > 0 {
		// A large result takes longer to send than a lease lasts. Rows that the report is changing are passed over: the two statements could wait for each other.
		batch.Queue(`update belay.job set lease = now() + $3 where id in (select j.id from belay.job j join unnest($1::bigint[], $2::integer[]) u(id, attempt) on j.id = u.id and j.attempt = u.attempt
where j.state = 'running' and j.machine = $4 for update of j skip locked)`, reported, at, paced(leaseTime), w.Machine)
	}
	if err := w.Store.Pool.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for f := range held {
		if a := w.held[f]; a != nil {
			a.cancel(errLost)
		}
	}
	for f, c := range cancelled {
		if a := w.held[f]; a != nil && c {
			a.cancel(errCancelled)
		}
	}
	for f, now := range kept {
		if a := w.held[f]; a != nil {
			delete(w.held, f)
			a.attempt = now
			w.held[a.fence] = a
		}
	}
	return nil
}

// profileOf is the name of the CLI that a job runs; empty if Belay does not know it.
func profileOf(job *fleetpipe.Job) string {
	name := ""
	if d := profile.OfCommand(job.Args[0]); d != nil {
		name = d.Name
	}
	return cmp.Or(job.Profile, name)
}

// observe notes what the jobs of this machine do, what they have cost and in which session they are, from their run records.
func (w *Worker) observe() {
	records, err := w.Runs.List()
	if err != nil {
		return // the next renewal tries again
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	byRun := map[string]*attempt{}
	for _, a := range w.held {
		byRun[a.runID] = a
	}
	for i := range records {
		r := &records[i]
		a := byRun[r.Parent]
		if a == nil || !r.IsRun() {
			continue
		}
		if a.doing = r.Activity; r.State == supervise.StateWaiting {
			a.doing = r.Reason
		}
		if r.CostUSD != nil {
			a.cost = *r.CostUSD
		}
		if r.Session != "" && r.Profile == a.profile { // that of a fallback is not continued
			a.inSession = r.Session
		}
	}
}
