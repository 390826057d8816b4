package db

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/journal"
)

// handled says that a line is about an error that a program has met and handled itself.
func handled(e *journal.Entry) bool { return e.Kind == journal.Audit && e.Event == journal.Failure }

// insertHandled makes an audit row and an event of an error that a program has handled, and reports whether it is new. The error of
// a run has both already, and its audit row gets the context.
func insertHandled(ctx context.Context, conn *sql.Conn, l *line) (fresh bool, err error) {
	var detail struct {
		Retryable *bool           `json:"is_retryable"`
		Retries   int             `json:"retry_count"`
		Context   json.RawMessage `json:"context"`
	}
	json.Unmarshal(l.Detail, &detail)
	source := l.digest
	if l.Invocation != "" {
		source = l.Invocation
		done, err := conn.ExecContext(ctx, "UPDATE audit SET detail = ?, session = coalesce(session, ?) WHERE source = ? AND detail IS NULL",
			cmp.Or(string(detail.Context), "{}"), null(l.Session), source)
		if err != nil {
			return false, err
		}
		if n, _ := done.RowsAffected(); n > 0 {
			return true, nil
		}
	}
	if l.Invocation == "" && alert.Counts(classOf(&l.Entry), "", true) {
		event := failureEvent(l, detail.Retries)
		event[len(event)-1] = l.digest
		if _, err := eventRows.insert(ctx, conn, 1, func(int) ([]any, *Figures) { return event, nil }); err != nil {
			return false, err
		}
	}
	c := journal.Classify(l.ErrorType, l.Error)
	if detail.Retryable != nil {
		c = c.Judged(*detail.Retryable)
	}
	n, err := auditRows.insert(ctx, conn, 1, func(int) ([]any, *Figures) {
		return []any{l.Timestamp.UnixMilli(), l.Command, journal.Failure, l.Profile, null(l.Invocation), null(l.Session), classOf(&l.Entry),
			null(c.Message), c.IsRetryable, c.Category, c.Severity, null(string(detail.Context)), source, null(l.machine)}, nil
	})
	return n == 1, err
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
