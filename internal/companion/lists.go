//go:build !norecord

package companion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
)

// answered asks the record and answers the question.
func answered(ctx context.Context, from caller, args *arguments, answer func(*question) error) (int, error) {
	q := newQuestion(from, args)
	err := q.ask(ctx)
	defer q.close()
	if err == nil {
		err = answer(q)
	}
	return 0, err
}

// listing is how rows of one kind are listed: what they are called where there are none, their columns, and the row of the i-th.
type listing[T any] struct {
	what    string
	columns []term.Column
	row     func(i int, one T) []term.Piece
	machine func(one T) string // that a row comes from, in a fleet
}

// write writes a list; with --follow, later rows come below the same headings.
func (l listing[T]) write(q *question, list []T) error {
	switch {
	case q.json:
		return term.JSONLines(q.out, list)
	case len(list) == 0:
		return term.Line(q.out, message.NothingOnRecord(l.what))
	}
	columns := l.columns
	if q.on("fleet") {
		columns = withMachine(columns)
	}
	var rows [][]term.Piece
	for i, one := range list {
		row := l.row(i, one)
		if q.on("fleet") { // behind the first column
			row = slices.Insert(row, 1, term.Styled(term.Plain, oneLine(l.machine(one), 40)))
		}
		rows = append(rows, row)
	}
	if q.following != nil {
		return q.following.Write(q.out, columns, rows)
	}
	return term.Table(q.out, columns, rows)
}

// events is belay events: final failures, of runs, hooks and MCP servers.
func (q *question) events(ctx context.Context) error {
	list, err := q.db.Events(ctx, q.filter, q.text("category"))
	if err != nil {
		return err
	}
	return listing[record.Event]{"events", eventColumns, func(_ int, e record.Event) []term.Piece {
		m := metadataOf(e)
		return term.Cells(q.clock(e.Timestamp), e.Category+"/"+e.Type, oneLine(m.Integration, 30), outcome(m.Type), m.Retries, oneLine(m.Error, 100))
	}, func(e record.Event) string { return metadataOf(e).Machine }}.write(q, list)
}

// metadata is what an event tells that is shown.
type metadata struct {
	Integration string `json:"integration"`
	Error       string `json:"error"`
	Type        string `json:"error_type"`
	Machine     string `json:"machine"`
	Retries     int    `json:"retry_count"`
}

func metadataOf(e record.Event) (m metadata) {
	json.Unmarshal(e.Metadata, &m)
	return m
}

// sessions is belay sessions.
func (q *question) sessions(ctx context.Context) error {
	if len(q.rest) > 0 {
		q.filter.Session = q.rest[0]
	}
	list, err := q.db.Sessions(ctx, q.filter, q.text("status"))
	if err != nil {
		return err
	}
	return listing[record.Session]{"sessions", sessionColumns, q.sessionRow, func(s record.Session) string { return s.Machine }}.write(q, list)
}

func (q *question) sessionRow(_ int, s record.Session) []term.Piece {
	return term.Cells(q.clock(s.Updated), s.Profile, oneLine(s.ID, 40), outcome(s.Status), s.Invocations, s.Attempts,
		tokenText(s.Usage.InputTokens, s.Usage.OutputTokens), spentBy(s.Usage), labelText(s.Name, s.Tags, record.Task{}), oneLine(tilde(s.Dir), 100), oneLine(s.Error, 200))
}

// alerts is belay alerts. It delivers pending alerts first.
func (q *question) alerts(ctx context.Context) error {
	if !q.on("fleet") { // each machine delivers its own
		soon, cancel := context.WithTimeout(ctx, 15*time.Second)
		defer cancel()
		if err := deliverAlerts(soon, q.db); err != nil {
			q.say(fmt.Sprintf("cannot deliver alerts: %v", err))
		}
	}
	list, err := q.db.Alerts(ctx, q.filter)
	if err != nil {
		return err
	}
	return listing[record.Alert]{"alerts", alertColumns, func(_ int, a record.Alert) []term.Piece {
		told := term.Styled(term.Warning, "–")
		switch {
		case a.Delivered != nil:
			told = term.Styled(term.Good, q.clock(*a.Delivered))
		case a.Trouble != "":
			told = term.Styled(term.Bad, fmt.Sprintf("failed %d times: %s", a.Tries, oneLine(a.Trouble, 60)))
		}
		why := "forecast"
		if a.Failures > 0 {
			why = fmt.Sprintf("%d in %s", a.Failures, term.Span(time.Duration(a.WithinMS)*time.Millisecond))
		}
		return term.Cells(q.clock(a.Timestamp), oneLine(a.Integration, 30), why, labelText(a.Name, a.Tags, a.Task), told, oneLine(a.Message, 80))
	}, func(a record.Alert) string { return a.Machine }}.write(q, list)
}

// audit is belay audit: failures with their classification, and what was changed by hand.
func (q *question) audit(ctx context.Context) error {
	list, err := q.db.Audit(ctx, q.filter, q.text("action"))
	if err != nil {
		return err
	}
	return listing[record.AuditRow]{"", auditColumns, func(_ int, a record.AuditRow) []term.Piece {
		kind, about, style := "", "", term.Bad
		if a.Category != "" {
			kind, about = strings.Join([]string{a.Severity, a.Category, a.Type}, ", "), pairs(a.Detail)
		}
		if a.Severity == "warning" {
			style = term.Warning
		}
		return term.Cells(q.clock(a.Timestamp), a.Actor, a.Action, oneLine(a.Subject, 40), term.Styled(style, kind), oneLine(a.Session, 40),
			oneLine(a.Message, 100), oneLine(about, 100))
	}, func(a record.AuditRow) string { return a.Machine }}.write(q, list)
}

// pairs writes a JSON object for the user: step=deploy ticket=42.
func pairs(object json.RawMessage) string {
	var values map[string]json.RawMessage
	if len(object) == 0 || json.Unmarshal(object, &values) != nil {
		return ""
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		text := string(values[name])
		if plain := ""; json.Unmarshal(values[name], &plain) == nil && text != "null" {
			text = plain
		}
		list = append(list, name+"="+text)
	}
	return strings.Join(list, " ")
}

// followEvery is how often --follow reads the log. A fleet is asked less often.
const (
	followEvery      = 300 * time.Millisecond
	followFleetEvery = time.Second
)

// follow shows the last rows, and then new ones as they come, until the context ends. name is what a row is known by, and its time.
func follow[T any](ctx context.Context, q *question, ask func(context.Context, record.Filter) ([]T, error), l listing[T], name func(T) (string, time.Time)) error {
	every := followEvery
	if q.on("fleet") {
		every = followFleetEvery
	}
	shown := map[string]bool{}
	q.following = &term.Following{}
	for first := true; ; first = false {
		list, err := ask(ctx, q.filter)
		var fresh []T
		var newest time.Time
		for _, one := range list {
			key, at := name(one)
			if at.After(newest) {
				newest = at
			}
			if !shown[key] {
				shown[key] = true
				fresh = append(fresh, one)
			}
		}
		if first || len(fresh) > 0 {
			err = errors.Join(err, l.write(q, fresh))
		}
		if err != nil {
			return err
		}
		if first {
			q.filter.Limit = 0
			if q.filter.Since = q.now; !newest.IsZero() {
				q.filter.Since = newest
			}
		}
		// A line may be folded late, behind one with a later time: a little of what was shown is looked at again.
		if back := time.Now().Add(-time.Minute); q.filter.Since.Before(back) {
			q.filter.Since = back
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(every):
		}
		q.now = time.Now()
		q.db.Fold(ctx) // trouble was said once
	}
}
