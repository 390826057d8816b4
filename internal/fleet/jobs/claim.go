package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// claimed is a job that this machine has taken.
type claimed struct {
	fence
	batch, task, hash string
	needs             []string
	payload           []byte // nil if it is large: see payload
	size              int64  // of the payload
	session           string // in which it was begun on this machine; empty if there is none
	begun             string
	refusals          int       // of other machines, each of which was an attempt
	paid              float64   // by earlier attempts
	now               time.Time // when it was taken, by PostgreSQL's clock
	here              time.Time // and by this machine's
}

// clock is PostgreSQL's clock. What this machine's says does not matter, only how much time has passed.
func (c *claimed) clock() time.Time { return c.now.Add(time.Since(c.here)) }

// setBegun sets how the job begins: new, resumed or restarted.
func (c *claimed) setBegun() {
	switch c.begun = "new"; {
	case c.session != "":
		c.begun = "resumed"
	case c.tries() > 1:
		c.begun = "restarted"
	}
}

// tries is how many machines have begun the job, this one included. One that has refused it has not.
func (c *claimed) tries() int { return c.attempt - c.refusals }

// claim is the answer to a request to take a job.
type claim struct {
	claimed
	taken   bool
	refused bool // this machine has refused it before
}

type claimRequest struct {
	fence
	river int64
}

// claim takes a job, if it is still to be had. It waits while PostgreSQL is away; ok is false if ctx has ended before.
func (c *batcher) claim(ctx context.Context, f fence, river int64) (got claim, ok bool) {
	w := request[claimRequest, claim]{claimRequest{f, river}, make(chan claim, 1)}
	c.mu.Lock()
	c.claims = append(c.claims, w)
	c.mu.Unlock()
	c.poke()
	select {
	case got = <-w.answer:
		return got, true
	case <-ctx.Done():
		return got, false
	}
}

// makeClaims takes jobs. One that this machine has taken by the same job of River already is taken again: the answer was lost.
func (c *batcher) makeClaims(ctx context.Context, list []request[claimRequest, claim]) ([]claim, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	ids, attempts, rivers := make([]int64, len(list)), make([]int, len(list)), make([]int64, len(list))
	got := make([]claim, len(list))
	at := map[fence]int{}
	for i, w := range list {
		ids[i], attempts[i], rivers[i] = w.question.job, w.question.attempt, w.question.river
		at[w.question.fence] = i
		got[i].fence = w.question.fence
	}
	rows, _ := c.store.Pool.Query(ctx, `
with taken as (
	update belay.job j set state = 'running', machine = $1, river = u.river, lease = now() + $5, started = now(), doing = '',
		session = case when j.session_machine = $1 then j.session end
	from unnest($2::bigint[], $3::integer[], $4::bigint[]) u(id, attempt, river)
	where j.id = u.id and j.attempt = u.attempt and not $1 = any(j.refused) and (j.state = 'ready' or j.state = 'running' and j.machine = $1 and j.river = u.river)
	returning j.id, j.attempt, j.batch, j.task, j.hash, j.needs, j.payload, j.session, j.cost, cardinality(j.refused) refusals
)
select id, attempt, true, batch, task, hash, needs, case when sum(octet_length(payload)) over (order by id) <= $6 then payload end, octet_length(payload), coalesce(session, ''), cost, refusals, now() from taken
union all
select j.id, j.attempt, false, '', '', '', '{}', null, 0, '', 0, 0, now() from belay.job j join unnest($2::bigint[], $3::integer[]) u(id, attempt) on j.id = u.id and j.attempt = u.attempt
where j.state = 'ready' and $1 = any(j.refused)`, c.machine, ids, attempts, rivers, paced(leaseTime), fetchedTogether)
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (one claim, err error) {
		err = row.Scan(&one.job, &one.attempt, &one.taken, &one.batch, &one.task, &one.hash, &one.needs, &one.payload, &one.size, &one.session, &one.paid, &one.refusals, &one.now)
		one.refused, one.here = !one.taken, time.Now()
		one.setBegun()
		return one, err
	})
	for _, one := range found {
		got[at[one.fence]] = one
	}
	return got, err
}

// Prompts and results may be large, and connections slow. What is small comes with the statement that asks for several jobs, which may take no longer than statementTime;
// what is large is fetched one by one, and may take as long as its size takes, and longer each time that it fails.

// fetchedTogether is how many bytes of payloads or results come with one statement.
const fetchedTogether = 256 << 10

// payload is what a job is given. It waits while PostgreSQL is away.
func (w *Worker) payload(ctx context.Context, c *claimed) (data []byte, err error) {
	if c.payload != nil {
		return c.payload, nil
	}
	// One at a time, so that there are connections left for the renewal of leases, and the link is not divided.
	select {
	case w.fetching <- struct{}{}:
		defer func() { <-w.fetching }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	data, err = w.fetchPatiently(ctx, c.size, "select payload from belay.job where id = $1 and payload is not null", c.job)
	if errors.Is(err, pgx.ErrNoRows) {
		err = errGone
	}
	return data, err
}

// fetchPatiently gets a value of about that size. While PostgreSQL is away, it waits.
func (w *Worker) fetchPatiently(ctx context.Context, size int64, sql string, args ...any) (data []byte, err error) {
	for failures := 1; ; failures++ {
		data, err = fetch(ctx, w.Store.Pool, time.Duration(failures)*sendTime(size), sql, args...)
		if err == nil || errors.Is(err, pgx.ErrNoRows) || permanent(err) || !pause(ctx, failures) {
			return data, err
		}
	}
}

// fetch gets a value.
func fetch(ctx context.Context, pool *pgxpool.Pool, most time.Duration, sql string, args ...any) (data []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err = pool.QueryRow(ctx, sql, args...).Scan(&data)
	return data, err
}
