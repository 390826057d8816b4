package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/message"
)

// Client submits the tasks of one batch and gets their results.
type Client struct {
	Store *store.Store
	Batch string
	Key   *Key // nil where the fleet encrypts nothing

	queue    *river.Client[pgx.Tx]
	packages packages
	fetches  int // of the same large result, which have failed but for the last
}

// Submit puts tasks into the fleet, all or none of them. A task that is there already stays as it is, unless it is to run again and has a result.
func (c *Client) Submit(ctx context.Context, tasks []*fleetpipe.Task) (err error) {
	size := c.packages.size
	for _, t := range tasks {
		size += 2 * t.Job.Size() // some of it is escaped
	}
	most := sendTime(size)
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err = pgx.BeginFunc(ctx, c.Store.Pool, func(tx pgx.Tx) error {
		// Until all of a statement has arrived, PostgreSQL takes the connection for a silent one.
		if _, err := tx.Exec(ctx, "select set_config('idle_in_transaction_session_timeout', $1, true)", strconv.FormatInt(most.Milliseconds(), 10)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, store.TouchBatch, c.Batch); err != nil {
			return err
		}
		if err := c.submitArchives(ctx, tx, tasks); err != nil {
			return err
		}
		var some submission
		if slices.ContainsFunc(tasks, func(t *fleetpipe.Task) bool { return t.Expires > 0 }) {
			if err := tx.QueryRow(ctx, "select clock_timestamp()").Scan(&some.now); err != nil {
				return err
			}
		}
		for _, t := range tasks {
			if err := some.add(c, t); err != nil {
				return err
			}
			if some.size > reportSize {
				if err := some.insert(ctx, tx, c.Batch); err != nil {
					return err
				}
				some = submission{refs: some.refs, now: some.now}
			}
		}
		if err := some.insert(ctx, tx, c.Batch); err != nil {
			return err
		}
		return enqueue(ctx, tx, some.refs)
	})
	return c.Store.Trouble(err)
}

// submission is some of the tasks that are submitted together: PostgreSQL takes at most 1 GiB in a statement.
type submission struct {
	ids, hashes []string
	payloads    [][]byte
	needs       []string // as JSON: PostgreSQL has no lists of lists of different lengths
	again       []bool
	archives    []*string
	size        int64
	refs        []reference // of all that were inserted
	now         time.Time   // by PostgreSQL's clock; zero if no task expires
}

// add adds a task.
func (s *submission) add(c *Client, t *fleetpipe.Task) error {
	job := t.Job
	job.Needs = append([]string{}, normal(t.Needs)...)
	if t.Expires > 0 {
		job.Expires = s.now.Add(t.Expires).UTC()
	}
	data, err := json.Marshal(&job)
	if err != nil {
		return err
	}
	sealed, err := c.Key.seal(data, c.Batch, t.ID, t.Hash)
	if err != nil {
		return err
	}
	list, err := json.Marshal(job.Needs)
	if err != nil {
		return err
	}
	s.ids, s.hashes, s.payloads, s.needs, s.again = append(s.ids, t.ID), append(s.hashes, t.Hash), append(s.payloads, sealed), append(s.needs, string(list)), append(s.again, t.Again)
	s.size += int64(len(sealed))
	var archive *string
	if f := t.Job.Files; f != nil && f.Archive != "" {
		archive = &f.Archive
	}
	s.archives = append(s.archives, archive)
	return nil
}

// insert makes jobs of the tasks.
func (s *submission) insert(ctx context.Context, tx pgx.Tx, batch string) error {
	if len(s.ids) == 0 {
		return nil
	}
	rows, _ := tx.Query(ctx, `
insert into belay.job as j (batch, task, hash, needs, payload, archive)
select $1, u.task, u.hash, array(select jsonb_array_elements_text(u.needs::jsonb)), u.payload, u.archive
from unnest($2::text[], $3::text[], $4::text[], $5::bytea[], $6::boolean[], $7::text[]) with ordinality u(task, hash, needs, payload, again, archive, n) order by n
on conflict (batch, task, hash) do update set state = 'ready', attempt = j.attempt + 1, payload = excluded.payload, archive = excluded.archive, needs = excluded.needs, result = null, ended = null,
	machine = null, session = null, cancelled = false, refused = '{}', refusal = '', doing = '', cost = 0, created = now()
where j.state = 'over' and (excluded.hash, excluded.task) in (select u.hash, u.task from unnest($2::text[], $3::text[], $6::boolean[]) u(task, hash, again) where u.again)
returning j.id, j.attempt, j.needs`, batch, s.ids, s.hashes, s.needs, s.payloads, s.again, s.archives)
	refs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (ref reference, err error) {
		err = row.Scan(&ref.Job, &ref.Attempt, &ref.needs)
		return ref, err
	})
	s.refs = append(s.refs, refs...)
	return err
}

// Results returns results that are there, and not among those that were seen: at most limit of them, and of large ones fewer.
func (c *Client) Results(ctx context.Context, seen map[int64]passed, limit int) (list []foundResult, err error) {
	found, err := c.found(ctx, seen, limit)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if f.sealed == nil {
			c.fetches++
			f.sealed, err = fetch(ctx, c.Store.Pool, time.Duration(c.fetches)*sendTime(f.size), "select result from belay.job where id = $1 and state = 'over'", f.ID)
			if errors.Is(err, pgx.ErrNoRows) {
				c.fetches = 0
				continue
			} else if err != nil {
				return list, c.Store.Trouble(err)
			}
			c.fetches = 0
		}
		data, err := c.Key.open(f.sealed, c.Batch, f.Task, f.Hash)
		if err == nil {
			err = json.Unmarshal(data, &f.Outcome)
		}
		if err != nil { // it stays so, and the others must not wait for it
			f.Outcome = fleetpipe.Outcome{Machine: f.Machine, Attempt: f.Attempt, Error: message.FleetResultUnreadable(err)}
		}
		f.sealed = nil
		list = append(list, f)
	}
	return list, nil
}

// part fetches a part of the text of a result. The error is a *textError if trying again is useless.
func (c *Client) part(ctx context.Context, r *fleetpipe.Result, n int) ([]byte, error) {
	c.fetches++
	sealed, err := fetch(ctx, c.Store.Pool, time.Duration(c.fetches)*sendTime(textPart), "select data from belay.result_part where job = $1 and mark = $2 and n = $3", r.ID, r.Text.Mark, n)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, c.Store.Trouble(err)
	}
	c.fetches = 0
	var data []byte
	if err == nil {
		data, err = c.Key.open(sealed, c.Batch, r.Task, r.Hash, r.Text.Mark, strconv.Itoa(n))
	}
	if err != nil {
		return nil, &textError{err}
	}
	return data, nil
}

// textError says that a part of a text is missing, or is not that of the result.
type textError struct{ error }

// foundResult is a result that is there.
type foundResult struct {
	fleetpipe.Result
	attempt int    // of the row
	sealed  []byte // nil if it is to be fetched by itself
	size    int64
}

// found are the first results that are small together, or the first one without its content.
func (c *Client) found(ctx context.Context, seen map[int64]passed, limit int) ([]foundResult, error) {
	ids, attempts := make([]int64, 0, len(seen)), make([]int, 0, len(seen))
	for id, p := range seen {
		ids, attempts = append(ids, id), append(attempts, p.attempt)
	}
	return collect(ctx, c, func(row pgx.CollectableRow) (f foundResult, err error) {
		err = row.Scan(&f.ID, &f.Task, &f.Hash, &f.attempt, &f.Attempt, &f.Machine, &f.size, &f.sealed)
		return f, err
	}, `select id, task, hash, attempt, attempt - cardinality(refused), coalesce(machine, ''), coalesce(octet_length(result), 0), case when total <= $4 then result end from
(select *, sum(octet_length(result)) over (order by ended, id) total, row_number() over (order by ended, id) n from
(select * from belay.job where batch = $1 and state = 'over' and (id, attempt) not in (select * from unnest($2::bigint[], $5::integer[])) order by ended, id limit $3) j) k
where total <= $4 or n = 1 order by n`, c.Batch, ids, limit, fetchedTogether, attempts)
}

// Tasks are the tasks whose jobs are there.
func (c *Client) Tasks(ctx context.Context) ([]taskKey, error) {
	return collect(ctx, c, pgx.RowToStructByPos[taskKey], "select task, hash from belay.job where batch = $1", c.Batch)
}

// Taken forgets jobs whose results the submitter has written down, also if PostgreSQL has lost meanwhile that they were over.
func (c *Client) Taken(ctx context.Context, ids []int64) error {
	return c.exec(ctx, "delete from belay.job where batch = $1 and id = any($2)", c.Batch, ids)
}

// DropArchives deletes the archives of the batch that no job needs. Before its end the next task may need them again.
func (c *Client) DropArchives(ctx context.Context) error {
	return c.exec(ctx, store.DropArchives, c.Batch)
}

// Running says what machines work on.
func (c *Client) Running(ctx context.Context) ([]fleetpipe.Running, error) {
	return collect(ctx, c, pgx.RowToStructByPos[fleetpipe.Running], `select task, coalesce(machine, ''), case when river is null then 'waiting for its session' else doing end, cost
from belay.job where batch = $1 and state = 'running' order by started limit 1000`, c.Batch)
}

// Touch says that the submitter is still there.
func (c *Client) Touch(ctx context.Context) error { return c.exec(ctx, store.TouchBatch, c.Batch) }

// Withdraw takes back the jobs that no machine works on, and says which. What River still has of them refers to nothing.
func (c *Client) Withdraw(ctx context.Context) ([]taskKey, error) {
	list, err := collect(ctx, c, pgx.RowToStructByPos[taskKey],
		"delete from belay.job where batch = $1 and (state = 'ready' or state = 'running' and river is null) returning task, hash", c.Batch)
	if err == nil && len(list) > 0 {
		err = c.DropArchives(ctx)
	}
	return list, err
}

// Cancel stops the jobs that machines work on. Each of them reports that it was.
func (c *Client) Cancel(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	list, err := store.Collect(ctx, c.Store, pgx.RowTo[int64],
		"update belay.job set cancelled = true where batch = $1 and state = 'running' and not cancelled returning coalesce(river, 0)", c.Batch)
	if err != nil {
		return err
	}
	if c.queue == nil {
		if c.queue, err = inserter(c.Store.Pool); err != nil {
			return err
		}
	}
	for _, id := range list { // this tells the machine at once; else it would notice when it renews its lease
		if _, err := c.queue.JobCancel(ctx, id); err != nil && !errors.Is(err, river.ErrNotFound) {
			return c.Store.Trouble(err)
		}
	}
	return nil
}

// Wait waits until there may be new results, at most for a time. conn listens for them; it is nil until the first call.
func (c *Client) Wait(ctx context.Context, conn **pgx.Conn, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if *conn == nil {
		listener, err := c.Store.Listener(ctx)
		if err != nil {
			return err
		}
		if _, err := listener.Exec(ctx, "listen "+channel(c.Batch)); err != nil {
			listener.Close(context.WithoutCancel(ctx))
			return c.Store.Trouble(err)
		}
		*conn = listener
		return nil // what came before was not heard
	}
	_, err := (*conn).WaitForNotification(ctx)
	if err == nil || ctx.Err() != nil && !(*conn).IsClosed() {
		return nil
	}
	(*conn).Close(context.WithoutCancel(ctx))
	*conn = nil
	return c.Store.Trouble(err)
}

// collect returns the rows that a query answers with.
func collect[T any](ctx context.Context, c *Client, row pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	return store.Collect(ctx, c.Store, row, sql, args...)
}

func (c *Client) exec(ctx context.Context, sql string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	_, err := c.Store.Pool.Exec(ctx, sql, args...)
	return c.Store.Trouble(err)
}
