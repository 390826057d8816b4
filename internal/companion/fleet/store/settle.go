package store

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belay-run/belay/internal/message"
)

// settle sets how PostgreSQL treats a connection. It looks for functions and operators only among its own: in a database that others use too, one of theirs with the same name would be
// called with our rights. And it gives up on a machine that is frozen, suspended or cut off: one in a transaction soon, since it may hold locks that the others wait for,
// and any other one within a minute and a half, before connections become few. By itself PostgreSQL waits for the first without end and for the others for two hours.
func (a *Address) settle(ctx context.Context, conn *pgconn.PgConn) error {
	if err := a.checkPooler(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "set search_path = pg_catalog, pg_temp").ReadAll(); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, `set idle_in_transaction_session_timeout = '5s'; set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 6`).ReadAll()
	if _, refused := errors.AsType[*pgconn.PgError](err); refused { // by something that is not quite PostgreSQL: it works without
		return nil
	}
	return err
}

// poolerTime is how long the second connection of checkPooler may take. A pooler that has no other one to give lets it wait.
const poolerTime = 3 * time.Second

// checkPooler refuses a pooler that gives each transaction another connection of PostgreSQL: notifications would be lost without a word, and what is set and prepared on a connection
// would be on others. It has to come before anything is set, which would be left on a connection that others use. A pooler is known by the process that it names, which is not the one
// of PostgreSQL; what it does is seen when a second client has a transaction open: the first one is then served by another process, or the second one by that of the first.
func (a *Address) checkPooler(ctx context.Context, conn *pgconn.PgConn) error {
	first, err := backend(ctx, conn, "")
	if err != nil || first == conn.PID() {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.session {
		return nil
	}
	config := a.config.ConnConfig.Config.Copy()
	config.AfterConnect = nil
	trying, cancel := context.WithTimeout(ctx, poolerTime)
	defer cancel()
	if other, err := pgconn.ConnectConfig(trying, config); err == nil {
		defer other.Close(context.WithoutCancel(ctx))
		second, err := backend(trying, other, "begin; ")
		again := first
		if err == nil && second != first {
			if again, err = backend(ctx, conn, ""); err != nil {
				return err
			}
		}
		said, refused := errors.AsType[*pgconn.PgError](err)
		if err == nil && (second == first || again != first) || refused && strings.Contains(said.Message, "statement pooling") {
			return message.Error(message.FleetPooler(a.Text), errTold)
		}
	}
	a.session = true
	return nil
}

// backend is the process of PostgreSQL that serves a connection, after a statement.
func backend(ctx context.Context, conn *pgconn.PgConn, statement string) (uint32, error) {
	results, err := conn.Exec(ctx, statement+"select pg_backend_pid()").ReadAll()
	if err != nil {
		return 0, err
	}
	for _, r := range results {
		if len(r.Rows) == 1 {
			pid, err := strconv.ParseUint(string(r.Rows[0][0]), 10, 32)
			return uint32(pid), err
		}
	}
	return 0, errors.New("no answer")
}
