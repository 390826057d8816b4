package record

import (
	"context"
	"database/sql"
	"slices"
)

// apply makes rows of the lines of the state directory dir. Lines that are there already, because a log has been changed by hand or copied, are passed over.
func apply(ctx context.Context, conn *sql.Conn, dir string, lines []line) error {
	attempts := make([]line, 0, len(lines))
	var others []line
	for i, l := range lines {
		l.place = i
		if l.Kind == "" {
			attempts = append(attempts, l)
		} else {
			others = append(others, l)
		}
	}
	fresh, err := insertAttempts(ctx, conn, attempts)
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context, *sql.Conn, []line) error{beginMeters, settleWaits, upsertInvocations, insertFailures, insertOutbox} {
		if err := step(ctx, conn, fresh); err != nil {
			return err
		}
	}
	faults, handled, err := insertOthers(ctx, conn, others)
	if err != nil {
		return err
	}
	if err := upsertSessions(ctx, conn, dir, inOrder(fresh, handled)); err != nil {
		return err
	}
	if err := abandonSessions(ctx, conn, fresh); err != nil {
		return err
	}
	return addUp(ctx, conn, slices.Concat(fresh, faults))
}

// inOrder puts attempts and handled errors back into the order of the log: what a session's last line says holds.
func inOrder(attempts, handled []line) []line {
	if len(handled) == 0 {
		return attempts
	}
	all := slices.Concat(attempts, handled)
	slices.SortStableFunc(all, func(a, b line) int { return a.place - b.place })
	return all
}
