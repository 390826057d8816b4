package record

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// insertFailures makes events and audit rows of the runs that failed for good.
func insertFailures(ctx context.Context, conn *sql.Conn, lines []line) error {
	var failed []*line
	for i := range lines {
		if e := &lines[i].Entry; final(e) && (e.ErrorType == verdict.NotDone || e.ErrorType == verdict.Conflict || alert.Counts(classOf(e), e.Rule, e.Attempt > 0)) {
			failed = append(failed, &lines[i])
		}
	}
	retries := make([]int, len(failed))
	for i, e := range failed {
		row := conn.QueryRowContext(ctx, "SELECT max(attempts - 1, 0) + inner_retries FROM invocations WHERE id = ?", e.Invocation)
		if err := row.Scan(&retries[i]); err != nil {
			return err
		}
	}
	if _, err := eventRows.insert(ctx, conn, len(failed), func(i int) ([]any, *Figures) { return failureEvent(failed[i], retries[i]), nil }); err != nil {
		return err
	}
	_, err := auditRows.insert(ctx, conn, len(failed), func(i int) ([]any, *Figures) { return failureAudit(failed[i]), nil })
	return err
}

var eventRows = rows{table: "events", columns: "timestamp, category, event_type, metadata, source"}

// failureEvent is the row that seed 003 asks for, with the context beside it. retries are those of Belay and those inside
// the CLI.
func failureEvent(l *line, retries int) []any {
	e := &l.Entry
	data, _ := json.Marshal(struct {
		Integration string `json:"integration"`
		Error       string `json:"error"`
		RetryCount  int    `json:"retry_count"`
		ErrorType   string `json:"error_type"`
		Profile     string `json:"profile"`
		Invocation  string `json:"invocation"`
		Command     string `json:"command"`
		ExitCode    int    `json:"exit_code"`
		Rule        string `json:"rule,omitempty"`
		Session     string `json:"session_id,omitempty"`
		Provider    string `json:"provider,omitempty"`
		Model       string `json:"model,omitempty"`
		HTTPStatus  int    `json:"http_status,omitempty"`

		Name    string            `json:"name,omitempty"`
		Tags    map[string]string `json:"tags,omitempty"`
		Project string            `json:"project,omitempty"`
		Machine string            `json:"machine,omitempty"`
		Task
	}{e.Integration(), e.Error, retries, classOf(e), e.Profile, e.Invocation, e.Command, e.ExitCode, e.Rule, e.Session, e.Provider,
		e.Model, e.HTTPStatus, e.Name, e.Tags, e.Project, l.machine, Task{e.Batch, e.Task, e.Line}})
	return []any{e.Timestamp.UnixMilli(), "integration", "failure", string(data), e.Invocation}
}

var auditRows = rows{
	table: "audit", columns: `timestamp, actor, action, subject, invocation, session, type, message, is_retryable, category, severity, detail,
		source, machine`,
}

// failureAudit is seed 001's: what failed, and what kind of failure it is.
func failureAudit(l *line) []any {
	e := &l.Entry
	c := journal.Classify(e.ErrorType, e.Error)
	switch { // the verdict may differ from its class; lines of older versions do not say so
	case e.Retryable != nil:
		c = c.Judged(*e.Retryable)
	case e.Status == journal.Exhausted:
		c = c.Judged(true)
	case e.Rule == "timeout": // a deadline that the user has set
		c = c.Judged(false)
	}
	return []any{e.Timestamp.UnixMilli(), "belay", "failure", e.Integration(), e.Invocation, null(e.Session), classOf(e), null(c.Message), c.IsRetryable,
		c.Category, c.Severity, nil, e.Invocation, null(l.machine)}
}

// insertOthers makes rows of the lines that are no attempts. A line of an unknown kind becomes an event. It returns the new
// lines that are failures of hooks and MCP servers, or errors that a program has handled.
func insertOthers(ctx context.Context, conn *sql.Conn, lines []line) (faults, errs []line, err error) {
	for i := range lines {
		l, to, row := &lines[i], eventRows, otherEvent
		if handled(&l.Entry) {
			fresh, err := insertHandled(ctx, conn, l)
			if err != nil {
				return nil, nil, err
			}
			if fresh {
				errs = append(errs, *l)
			}
			continue
		}
		switch {
		case l.Kind == journal.Audit:
			to, row = auditRows, byHand
		case l.Kind == journal.Alert:
			to, row = alertRows, alertRow
		case !noteworthy(&l.Entry):
			continue
		}
		n, err := to.insert(ctx, conn, 1, func(int) ([]any, *Figures) { return row(l), nil })
		if err != nil {
			return nil, nil, err
		}
		if n == 1 && fault(&l.Entry) {
			faults = append(faults, *l)
		}
	}
	return faults, errs, nil
}

// noteworthy says that a line about a hook or an MCP server is an event: a final result that may need attention. What was
// retried, refused by a gate or cancelled is none, nor is an MCP server's answer that it lacks some optional method, by
// which clients find out what it supports.
func noteworthy(e *journal.Entry) bool {
	switch e.ErrorType {
	case verdict.Interrupted, verdict.BreakerOpen:
		return false
	case verdict.NotFound:
		return e.Event != "request_error"
	}
	return e.Status != journal.Retry && (e.Kind != journal.Turn || e.Status != journal.Success)
}

// otherEvent is the event of a hook or an MCP server: the detail is the metadata, with what the entry itself says beside it.
func otherEvent(l *line) []any {
	data := map[string]any{}
	json.Unmarshal(l.Detail, &data)
	event := l.Event
	more := map[string]string{"integration": l.Profile, "error": l.Error, "error_type": string(l.ErrorType), "invocation": l.Invocation,
		"session_id": l.Session, "name": l.Name, "project": l.Project, "machine": l.machine}
	if len(l.Tags) > 0 {
		data["tags"] = l.Tags
	}
	if l.Kind == journal.Hook {
		event, more["event_type"] = "error", l.Event // the hook's own event, such as PreToolUse
	}
	for key, value := range more {
		if _, there := data[key]; !there && value != "" {
			data[key] = value
		}
	}
	text, _ := json.Marshal(data)
	return []any{l.Timestamp.UnixMilli(), string(l.Kind), event, string(text), l.digest}
}

// byHand is the row of what a user has changed.
func byHand(l *line) []any {
	var detail struct {
		User   string `json:"user"`
		Reason string `json:"reason"`
	}
	json.Unmarshal(l.Detail, &detail)
	return []any{l.Timestamp.UnixMilli(), cmp.Or(detail.User, "by hand"), l.Event, l.Gate, null(l.Invocation), null(l.Session), nil, null(detail.Reason), nil, nil, nil,
		null(string(l.Detail)), l.digest, null(l.machine)}
}

var alertRows = rows{table: "alerts", columns: "timestamp, integration, failures, within_ms, message, invocation, source, name, tags, project, machine, batch, task, line"}

func alertRow(l *line) []any {
	var detail struct {
		Failures int     `json:"failures"`
		Within   float64 `json:"within_s"`
	}
	json.Unmarshal(l.Detail, &detail)
	return []any{l.Timestamp.UnixMilli(), l.Profile, detail.Failures, ms(detail.Within), null(l.Error), null(l.Invocation), l.digest,
		null(l.Name), nullTags(l.Tags), null(l.Project), null(l.machine), null(l.Batch), null(l.Task), null(int64(l.Line))}
}

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
