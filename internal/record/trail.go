package record

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/belay-run/belay/internal/record/database"
)

// Trail is what may need attention, and what people have changed by hand.
type Trail struct{ db *database.DB }

// Event is a final result that may need attention.
type Event struct {
	Timestamp time.Time       `json:"timestamp"`
	Category  string          `json:"category"`
	Type      string          `json:"event_type"`
	Metadata  json.RawMessage `json:"metadata"`
}

// Events returns those that the filter lets through, oldest first. The filter's profile is the integration, or the profile.
func (t Trail) Events(ctx context.Context, f Filter, category string) ([]Event, error) {
	w := f.ofEvents(category)
	query := "SELECT timestamp, category, event_type, metadata FROM events" + w.String() + " ORDER BY timestamp DESC, id DESC"
	return database.Newest(ctx, t.db, query, w.args, f.Limit, func(r *sql.Rows) (e Event, err error) {
		var at int64
		var text string
		err = r.Scan(&at, &e.Category, &e.Type, &text)
		e.Timestamp, e.Metadata = moment(at), json.RawMessage(text)
		return e, err
	})
}

// OtherFailures is how many events the filter lets through that are not failures of runs.
func (t Trail) OtherFailures(ctx context.Context, f Filter) (n int, err error) {
	w := f.ofEvents("")
	w.and("coalesce(json_extract(metadata, '$.invocation'), '') NOT IN (SELECT id FROM invocations)")
	err = t.db.Row(ctx, "SELECT count(*) FROM events"+w.String(), w.args, &n)
	return n, err
}

// AuditRow is a failure, or what a user has changed by hand. The fields of a failure are seed 001's classification.
type AuditRow struct {
	Timestamp   time.Time       `json:"timestamp"`
	Actor       string          `json:"actor"`
	Action      string          `json:"action"`
	Subject     string          `json:"subject"` // the integration, or the gate
	Invocation  string          `json:"invocation,omitempty"`
	Session     string          `json:"session_id,omitempty"`
	Type        string          `json:"type,omitempty"`
	Message     string          `json:"message,omitempty"`
	IsRetryable *bool           `json:"is_retryable,omitempty"`
	Category    string          `json:"category,omitempty"`
	Severity    string          `json:"severity,omitempty"`
	Detail      json.RawMessage `json:"detail,omitempty"`
	Machine     string          `json:"machine,omitempty"` // in the record of a fleet
}

// Audit returns the rows that the filter lets through, oldest first. The filter's profile is the subject, or the profile of
// the run.
func (t Trail) Audit(ctx context.Context, f Filter, action string) ([]AuditRow, error) {
	w := &where{}
	w.times("timestamp", f)
	if f.Class == Failed {
		f.Class, action = "", "failure"
	}
	if f.Profile != "" {
		w.and("(subject = ? OR invocation IN (SELECT id FROM invocations WHERE profile = ?))", f.Profile, f.Profile)
	}
	w.is("type", f.Class)
	w.is("session", f.Session)
	w.is("action", action)
	w.is("machine", f.Machine)
	query := `SELECT timestamp, actor, action, subject, coalesce(invocation, ''), coalesce(session, ''), coalesce(type, ''), coalesce(message, ''),
		is_retryable, coalesce(category, ''), coalesce(severity, ''), coalesce(detail, ''), coalesce(machine, '') FROM audit` + w.String() + " ORDER BY timestamp DESC, id DESC"
	return database.Newest(ctx, t.db, query, w.args, f.Limit, func(r *sql.Rows) (a AuditRow, err error) {
		var at int64
		var detail string
		err = r.Scan(&at, &a.Actor, &a.Action, &a.Subject, &a.Invocation, &a.Session, &a.Type, &a.Message, &a.IsRetryable, &a.Category, &a.Severity,
			&detail, &a.Machine)
		if a.Timestamp = moment(at); detail != "" {
			a.Detail = json.RawMessage(detail)
		}
		return a, err
	})
}
