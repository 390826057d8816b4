package jobs

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/retry"
)

// permanent reports whether trying again is useless, because PostgreSQL has refused the statement.
func permanent(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return errors.Is(err, ErrKey) || errors.Is(err, errPackage)
	}
	switch refused.Code[:2] {
	case "25": // given up on after a silence in a transaction
		return refused.Code != "25P03"
	case "08", "40", "53", "57", "58", "55": // connection, rollback, resources, operator, system, lock
		return false
	}
	return true
}

// pause waits after so many failures in a row, and says whether ctx lasts: from 0.1 s up to 5 s, spread so that the machines of a fleet do not come back together.
func pause(ctx context.Context, failures int) bool {
	d := retry.Policy{BaseDelay: 100 * time.Millisecond, MaxDelay: 5 * time.Second}.Backoff(failures - 1)
	return retry.Sleep(ctx, d/2+rand.N(d/2)) == nil
}

// await waits until all of a group have ended, or ctx has.
func await(ctx context.Context, group *sync.WaitGroup) {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// PaceVar says by how much the times of leases are shorter, in an executable for tests.
const PaceVar = "BELAY_TEST_FLEET_PACE"

// paced is a time of the leases.
func paced(d time.Duration) time.Duration {
	if !clock.Open() {
		return d
	}
	if n, err := strconv.Atoi(os.Getenv(PaceVar)); err == nil && n > 0 {
		return d / time.Duration(n)
	}
	return d
}
