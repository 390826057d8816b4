package jobs

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/belay-run/belay/internal/message"
)

// Prompts and results may be large, and connections slow. What is small comes with the statement that asks for several jobs, which may take no longer than statementTime;
// what is large is fetched one by one, and may take as long as its size takes.

const (
	// payloadIfSmall is a payload that comes with others.
	payloadIfSmall = "case when octet_length(j.payload) <= 16384 then j.payload end"
	// resultIfSmall is a result that comes with others, which together are small.
	resultIfSmall = "case when sum(octet_length(j.result)) over (order by j.ended, j.id) <= 262144 then j.result end"
)

// payload is what a job is given. It waits while PostgreSQL is away.
func (w *Worker) payload(ctx context.Context, c *claimed) (data []byte, err error) {
	if c.payload != nil {
		return c.payload, nil
	}
	for failures := 1; ; failures++ {
		data, err = fetch(ctx, w.Store.Pool, c.size, "select payload from belay.job where id = $1 and payload is not null", c.job)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil, message.Error(message.FleetJobGone(), err)
		case err == nil || permanent(err) || !sleep(ctx, backOff(failures)):
			return data, err
		}
	}
}

// fetch gets a value of so many bytes.
func fetch(ctx context.Context, pool *pgxpool.Pool, size int64, sql string, args ...any) (data []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime(size))
	defer cancel()
	err = pool.QueryRow(ctx, sql, args...).Scan(&data)
	return data, err
}
