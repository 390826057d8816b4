package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

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
	for failures := 1; ; failures++ {
		data, err = fetch(ctx, w.Store.Pool, time.Duration(failures)*sendTime(c.size), "select payload from belay.job where id = $1 and payload is not null", c.job)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil, errGone
		case err == nil || permanent(err) || !pause(ctx, failures):
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
