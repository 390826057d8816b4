package record

import (
	"context"
	"database/sql"
	"time"

	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/redact"
)

// Alert is an integration that has failed too often.
type Alert struct {
	ID          int64      `json:"id"`
	Timestamp   time.Time  `json:"timestamp"`
	Integration string     `json:"integration"`
	Failures    int        `json:"failures"`
	WithinMS    int64      `json:"within_ms"`
	Message     string     `json:"message,omitempty"` // of the last failure
	Invocation  string     `json:"invocation,omitempty"`
	Delivered   *time.Time `json:"delivered"` // to the command or webhook; null if to none, or not yet
	Tries       int        `json:"tries"`
	Trouble     string     `json:"trouble,omitempty"` // why it could not be delivered
	Labels                 // of the run whose failure has raised it
	Task
}

// Alerts are those that were raised, and how far they were delivered.
type Alerts struct{ db *database.DB }

const alertColumns = `id, timestamp, integration, failures, within_ms, coalesce(message, ''), coalesce(invocation, ''), delivered, tries,
	coalesce(trouble, ''), coalesce(name, ''), coalesce(tags, ''), coalesce(project, ''), coalesce(machine, ''),
	coalesce(batch, ''), coalesce(task, ''), coalesce(line, 0)`

func scanAlert(r interface{ Scan(...any) error }) (a Alert, err error) {
	var at int64
	var delivered *int64
	var tags string
	err = r.Scan(&a.ID, &at, &a.Integration, &a.Failures, &a.WithinMS, &a.Message, &a.Invocation, &delivered, &a.Tries, &a.Trouble, &a.Name, &tags, &a.Project, &a.Machine, &a.Batch, &a.Task.Task, &a.Line)
	a.Tags = tagsOf(tags)
	a.Timestamp, a.Delivered = moment(at), timeOf(delivered)
	return a, err
}

// List returns those that the filter lets through, oldest first. The filter's profile is the integration.
func (l Alerts) List(ctx context.Context, f Filter) ([]Alert, error) {
	w := &where{}
	w.times("timestamp", f)
	w.is("integration", f.Profile)
	w.is("machine", f.Machine)
	return database.Newest(ctx, l.db, "SELECT "+alertColumns+" FROM alerts"+w.String()+" ORDER BY timestamp DESC, id DESC", w.args, f.Limit,
		func(r *sql.Rows) (Alert, error) { return scanAlert(r) })
}

// The bounds of delivery. Alerts that are too old are not delivered.
const (
	maxTries   = 6
	maxAge     = 24 * time.Hour
	claimedFor = 2 * time.Minute
)

// SinkSince says since when alerts are delivered to that sink, which is known by its identity: since it was configured, as
// of the first time that it is seen. An empty identity says that there is none.
func (l Alerts) SinkSince(ctx context.Context, identity string, configured time.Time) (since time.Time, err error) {
	if l.db.ReadOnly() {
		return configured, nil
	}
	var seen string
	var at int64
	row := func(q database.Querier) error {
		err := q.QueryRowContext(ctx, "SELECT identity, since FROM sink").Scan(&seen, &at)
		if err == sql.ErrNoRows {
			return nil
		}
		return err
	}
	if err := row(l.db.SQL); err != nil || seen == identity {
		return moment(at), err
	}
	err = l.db.Write(ctx, func(conn *sql.Conn) error {
		if err := row(conn); err != nil || seen == identity { // another may have been faster
			return err
		}
		at = configured.UnixMilli()
		_, err := conn.ExecContext(ctx, "INSERT INTO sink VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET identity = excluded.identity, since = excluded.since",
			identity, at)
		return err
	})
	return moment(at), err
}

// Claim claims an alert that was raised since then and is to be delivered, so that no other process delivers it; false
// if there is none. The claim of a process that was killed ends after two minutes, and the next process to fold retries.
func (l Alerts) Claim(ctx context.Context, now, since time.Time) (a Alert, ok bool, err error) {
	if l.db.ReadOnly() {
		return a, false, nil
	}
	if oldest := now.Add(-maxAge); since.Before(oldest) {
		since = oldest
	}
	row := l.db.SQL.QueryRowContext(ctx, `UPDATE alerts SET claimed = ?, tries = tries + 1 WHERE id = (SELECT id FROM alerts WHERE delivered IS NULL
		AND tries < ? AND timestamp >= ? AND claimed < ? ORDER BY timestamp LIMIT 1) RETURNING `+alertColumns,
		now.Add(claimedFor).UnixMilli(), maxTries, since.UnixMilli(), now.UnixMilli())
	if a, err = scanAlert(row); err == sql.ErrNoRows {
		return a, false, nil
	}
	return a, err == nil, err
}

// Delivered records how a delivery went. An alert whose delivery failed can be claimed again after a while.
func (l Alerts) Delivered(ctx context.Context, a Alert, now time.Time, trouble error) error {
	if trouble == nil {
		_, err := l.db.SQL.ExecContext(ctx, "UPDATE alerts SET delivered = ?, trouble = NULL WHERE id = ?", now.UnixMilli(), a.ID)
		return err
	}
	pause := time.Second << min(a.Tries, 6)
	_, err := l.db.SQL.ExecContext(ctx, "UPDATE alerts SET claimed = ?, trouble = ? WHERE id = ?", now.Add(pause).UnixMilli(), redact.Text(trouble.Error()), a.ID)
	return err
}
