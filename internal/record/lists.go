package record

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Event is a final result that may need attention.
type Event struct {
	Timestamp time.Time       `json:"timestamp"`
	Category  string          `json:"category"`
	Type      string          `json:"event_type"`
	Metadata  json.RawMessage `json:"metadata"`
}

// Events returns those that the filter lets through, oldest first. The filter's profile is the integration, or the profile.
func (d *DB) Events(ctx context.Context, f Filter, category string) ([]Event, error) {
	w := f.ofEvents(category)
	query := "SELECT timestamp, category, event_type, metadata FROM events" + w.String() + " ORDER BY timestamp DESC, id DESC"
	return newest(ctx, d, query, w.args, f.Limit, func(r *sql.Rows) (e Event, err error) {
		var at int64
		var text string
		err = r.Scan(&at, &e.Category, &e.Type, &text)
		e.Timestamp, e.Metadata = moment(at), json.RawMessage(text)
		return e, err
	})
}

// OtherFailures is how many events the filter lets through that are not failures of runs.
func (d *DB) OtherFailures(ctx context.Context, f Filter) (n int, err error) {
	w := f.ofEvents("")
	w.and("coalesce(json_extract(metadata, '$.invocation'), '') NOT IN (SELECT id FROM invocations)")
	err = d.row(ctx, "SELECT count(*) FROM events"+w.String(), w.args, &n)
	return n, err
}

func (f Filter) ofEvents(category string) *where {
	w := &where{}
	w.times("timestamp", f)
	w.is("category", category)
	w.is(ByMachine.labelOfEvent(), f.Machine)
	if f.Profile != "" {
		w.and("? IN (json_extract(metadata, '$.integration'), json_extract(metadata, '$.profile'))", f.Profile)
	}
	if f.Class != Failed {
		w.is("json_extract(metadata, '$.error_type')", f.Class)
	}
	if f.Session != "" {
		w.and("? IN (json_extract(metadata, '$.session_id'), json_extract(metadata, '$.session_key'))", f.Session)
	}
	return w
}

// Session is what is on record of an agent's conversation.
type Session struct {
	Profile     string        `json:"profile"`
	ID          string        `json:"id"`
	Dir         string        `json:"dir,omitempty"`
	Status      string        `json:"status"` // running, done, failed, interrupted, abandoned
	Error       string        `json:"error_message,omitempty"`
	Model       string        `json:"model,omitempty"`
	Started     time.Time     `json:"started"`
	Updated     time.Time     `json:"timestamp"`
	Invocations int           `json:"invocations"`
	Attempts    int           `json:"attempts"`
	Usage       verdict.Usage `json:"usage"`
	// Name, Tags and Project come from its last run that had any.
	Name    string            `json:"name,omitempty"`
	Tags    map[string]string `json:"tags,omitempty"`
	Project string            `json:"project,omitempty"`
	Machine string            `json:"machine,omitempty"` // in the record of a fleet
}

// sessionRuns is how many runs have used a session: those that ended with it, and those that have left it or use it still.
// Rows from before the third schema do not have their session.
const sessionRuns = "max(invocations, (SELECT count(DISTINCT a.invocation) FROM attempts a WHERE a.session = sessions.id))"

// Sessions returns those that the filter lets through, the one that was used last at the end.
func (d *DB) Sessions(ctx context.Context, f Filter, status string) ([]Session, error) {
	w := &where{}
	w.times("timestamp", f)
	f.labels(w, "")
	w.is("profile", f.Profile)
	w.is("status", status)
	if f.Session != "" {
		w.and("? IN (substr(id, 1, ?), substr(id, -?))", f.Session, len(f.Session), len(f.Session))
	}
	query := `SELECT profile, id, coalesce(dir, ''), status, coalesce(error_message, ''), coalesce(model, ''), started, timestamp, ` + sessionRuns + `,
		attempts, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, iif(no_costs > 0, NULL, cost_usd),
		unknown_usage > 0, no_costs <= 0 AND estimated_costs > 0, coalesce(name, ''), coalesce(tags, ''), coalesce(project, ''), coalesce(machine, '') FROM sessions` + w.String() +
		" ORDER BY timestamp DESC, id DESC"
	return newest(ctx, d, query, w.args, f.Limit, func(r *sql.Rows) (s Session, err error) {
		var started, updated int64
		var tags string
		u := &s.Usage
		err = r.Scan(&s.Profile, &s.ID, &s.Dir, &s.Status, &s.Error, &s.Model, &started, &updated, &s.Invocations, &s.Attempts, &u.InputTokens,
			&u.OutputTokens, &u.CacheReadInputTokens, &u.CacheCreationInputTokens, &u.CostUSD, &u.Unknown, &u.Estimated, &s.Name, &tags, &s.Project, &s.Machine)
		s.Tags = tagsOf(tags)
		s.Started, s.Updated = moment(started), moment(updated)
		return s, err
	})
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
func (d *DB) Audit(ctx context.Context, f Filter, action string) ([]AuditRow, error) {
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
	return newest(ctx, d, query, w.args, f.Limit, func(r *sql.Rows) (a AuditRow, err error) {
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
