package db

import (
	"context"
	"database/sql"
	"errors"
)

// waited is what a line says that has been waited, in milliseconds. What it only plans is not known to be over before the
// next line of its run has come: see settleWaits.
func (l *line) waited() int64 {
	return ms(l.WaitTime) - ms(l.Planned()) + ms(l.GateWait) + l.settled
}

// settleWaits makes the planned waits count that the new lines show to be over, less what they say was cut short. So the wait
// that a run was killed in counts for nothing, and one that goes on does not count yet.
func settleWaits(ctx context.Context, conn *sql.Conn, fresh []line) error {
	type key struct {
		invocation string
		attempt    int
	}
	index := map[key]int{}
	for i := range fresh {
		l := &fresh[i]
		if l.Planned() > 0 {
			index[key{l.Invocation, l.Attempt}] = i
		}
		if l.Attempt == 1 { // nothing has come before
			continue
		}
		w, err := waitBefore(ctx, conn, l)
		if err != nil {
			return err
		}
		over := max(w.planned-ms(-l.GateWait), -w.waited)
		if w.planned == 0 && over == 0 {
			continue
		}
		if _, err := conn.ExecContext(ctx, "UPDATE attempts SET wait_ms = wait_ms + ?, planned_wait_ms = 0 WHERE invocation = ? AND attempt = ?",
			over, l.Invocation, w.attempt); err != nil {
			return err
		}
		if j, ok := index[key{l.Invocation, w.attempt}]; ok {
			fresh[j].settled = over
		} else if err := settleSums(ctx, conn, l, w, over); err != nil {
			return err
		}
	}
	return nil
}

// settleSums adds to the wait that an attempt on record was counted with.
func settleSums(ctx context.Context, conn *sql.Conn, l *line, w wait, over int64) (err error) {
	add := func(table string, over int64, where string, args ...any) {
		if err == nil {
			_, err = conn.ExecContext(ctx, "UPDATE "+table+" SET wait_ms = wait_ms + ? WHERE "+where, append([]any{over}, args...)...)
		}
	}
	const kind = "profile = ? AND model = ? AND class = ?"
	at := floorDiv(w.at, quarter)
	add("invocations", over, "id = ?", l.Invocation)
	add("rollup", over, "quarter = ? AND "+kind, at, l.Profile, w.model, w.class)
	for _, label := range l.labels() {
		add("label_rollup", over, "label = ? AND value = ? AND quarter = ? AND "+kind, label[0], label[1], at, l.Profile, w.model, w.class)
	}
	add("meters", max(0, over), kind, l.Profile, w.model, w.class)
	return err
}

// wait is that after an attempt on record.
type wait struct {
	attempt         int
	planned, waited int64
	at              int64
	model, class    string
}

// waitBefore is the wait that a line has come after; zero if there was none.
func waitBefore(ctx context.Context, conn *sql.Conn, l *line) (w wait, err error) {
	err = conn.QueryRowContext(ctx, `SELECT attempt, planned_wait_ms, wait_ms - inner_wait_ms, timestamp, coalesce(model, ''), class FROM attempts
		WHERE invocation = ? AND status = 'retry' AND attempt > 0 AND (attempt < ? OR ? = 0) ORDER BY attempt DESC LIMIT 1`, l.Invocation, l.Attempt, l.Attempt).
		Scan(&w.attempt, &w.planned, &w.waited, &w.at, &w.model, &w.class)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return w, err
}
