package jobs

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/fleet/store"
)

// report is how a job ends on this machine: with a result, or back into the queue.
type report struct {
	fence
	result  []byte    // encrypted; nil puts it back
	text    *textFile // goes before the result; nil if there is none
	session string    // keeps it for this machine, to continue this session; empty gives it to any
	refusal string    // why this machine does not run it; empty if it does
	ifNone  []byte    // the result if no machine runs it, encrypted
}

// size is how much there is to send.
func (r *report) size() int64 { return int64(len(r.result) + len(r.ifNone)) }

// hasParts reports whether there are parts of a text to be sent before the result.
func (r *report) hasParts() bool { return r.text != nil && !r.text.over }

// reportSize is how much is sent by one statement, unless one result alone is larger.
const reportSize = 4 << 20

// together is how many of the first reports go by one statement.
func together(list []request[report, bool]) (n int) {
	for size := int64(0); n < len(list); n++ {
		if size += list[n].question.size(); size > reportSize && n > 0 {
			break
		}
	}
	return n
}

// report delivers what has become of a job; accepted is false if another attempt is under way. ok is false if ctx has ended before.
func (c *batcher) report(ctx context.Context, r report) (accepted, ok bool) {
	w := request[report, bool]{r, make(chan bool, 1)}
	c.mu.Lock()
	c.reports = append(c.reports, w)
	c.mu.Unlock()
	c.poke()
	select {
	case accepted = <-w.answer:
		return accepted, true
	case <-ctx.Done():
		return false, false
	}
}

// makeReports delivers results. A report that has arrived before, though its answer was lost, is accepted again. So is that of a job which no one has taken:
// PostgreSQL has lost that this machine had, as a copy does that takes over too early. And so is that of the attempt before, where the job was lost and is kept for
// this machine, or was taken up again by it while the result was under way.
func (c *batcher) makeReports(ctx context.Context, list []request[report, bool]) ([]bool, error) {
	var size int64
	for _, w := range list {
		size += w.question.size()
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime(size))
	defer cancel()
	accepted := make([]bool, len(list))
	var ids []int64
	var attempts []int
	var results [][]byte
	at := map[fence]int{}
	for i, w := range list {
		if r := w.question; r.result != nil {
			ids, attempts, results = append(ids, r.job), append(attempts, r.attempt), append(results, r.result)
			at[r.fence] = i
			continue
		}
		var err error
		if w.question.session != "" {
			accepted[i], err = c.keep(ctx, w.question)
		} else {
			accepted[i], err = c.putBack(ctx, w.question)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(ids) == 0 {
		return accepted, nil
	}
	rows, err := c.store.Pool.Query(ctx, `
with done as (
	update belay.job j set state = 'over', result = u.result, payload = null, lease = null, ended = now(), machine = $4
	from unnest($1::bigint[], $2::integer[], $3::bytea[]) u(id, attempt, result)
	where j.id = u.id and (j.attempt = u.attempt and (j.state = 'running' and j.machine = $4 or j.state = 'ready')
		or j.attempt = u.attempt + 1 and coalesce(j.river, $5) = $5 and j.state = 'running' and j.machine = $4)
	returning j.id, u.attempt, j.batch
), told as (
	select `+tellBatch+` from (select distinct batch from done) b
)
select id, attempt, (select count(*) from told) from done
union all
select j.id, u.attempt, 0 from belay.job j join unnest($1::bigint[], $2::integer[]) u(id, attempt) on j.id = u.id and j.attempt in (u.attempt, u.attempt + 1)
where j.state = 'over' and j.machine = $4`, ids, attempts, results, c.machine, ownWork)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var f fence
		var told int
		if err := rows.Scan(&f.job, &f.attempt, &told); err != nil {
			return nil, err
		}
		accepted[at[f]] = true
	}
	return accepted, rows.Err()
}

// putBack puts a job into the queue again. If this machine does not run it, and neither does any other, it is over.
func (c *batcher) putBack(ctx context.Context, r report) (accepted bool, err error) {
	err = pgx.BeginFunc(ctx, c.store.Pool, func(tx pgx.Tx) error {
		var ref reference
		err := tx.QueryRow(ctx, `update belay.job set state = 'ready', attempt = attempt + 1, lease = null, machine = null, refusal = $4,
	refused = case when $4 = '' then refused else array_append(refused, $3) end
where id = $1 and attempt = $2 and state = 'running' and machine = $3 returning id, attempt, needs, refused`, r.job, r.attempt, c.machine, r.refusal).Scan(&ref.Job, &ref.Attempt, &ref.needs, &ref.refused)
		if err == pgx.ErrNoRows {
			return nil
		}
		if err != nil {
			return err
		}
		accepted = true
		if r.refusal != "" {
			over, err := tx.Exec(ctx, `update belay.job j set state = 'over', result = $2, payload = null, ended = now() where id = $1 and not exists
(select 1 from belay.worker w where seen > now() - $3::interval and not draining and labels @> j.needs and not machine = any(j.refused))`, r.job, r.ifNone, store.AwayAfter)
			if err != nil {
				return err
			}
			if over.RowsAffected() > 0 {
				_, err := tx.Exec(ctx, "select "+tellBatch+" from belay.job where id = $1", r.job)
				return err
			}
		}
		return enqueue(ctx, tx, []reference{ref})
	})
	return accepted, err
}
