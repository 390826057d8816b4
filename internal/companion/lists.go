//go:build !norecord

package companion

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/companion/db"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
)

// sayNone says that there are no rows to show.
func (q *question) sayNone(what string) error {
	if q.json {
		return nil
	}
	return term.Line(q.out, message.NothingOnRecord(what))
}

// eventsCommand is belay events: final failures, of runs, hooks and MCP servers.
func eventsCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	q := newQuestion(from, args)
	err := q.ask(ctx)
	defer q.close()
	if err != nil {
		return 0, err
	}
	list, err := q.db.Events(ctx, q.filter, q.text("category"))
	switch {
	case err != nil:
		return 0, err
	case len(list) == 0:
		return 0, q.sayNone("events")
	case q.json:
		return 0, term.JSONLines(q.out, list)
	}
	var rows [][]term.Piece
	var machines []string
	for _, e := range list {
		var m struct {
			Integration string `json:"integration"`
			Error       string `json:"error"`
			Type        string `json:"error_type"`
			Machine     string `json:"machine"`
			Retries     int    `json:"retry_count"`
		}
		json.Unmarshal(e.Metadata, &m)
		rows = append(rows, term.Cells(q.clock(e.Timestamp), e.Category+"/"+e.Type, oneLine(m.Integration, 30), outcome(m.Type), m.Retries,
			oneLine(m.Error, 100)))
		machines = append(machines, m.Machine)
	}
	columns, rows := q.withMachines(eventColumns, rows, func(i int) string { return machines[i] })
	return 0, term.Table(q.out, columns, rows)
}

// sessionsCommand is belay sessions.
func sessionsCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	q := newQuestion(from, args)
	err := q.ask(ctx)
	defer q.close()
	if err != nil {
		return 0, err
	}
	if len(q.rest) > 0 {
		q.filter.Session = q.rest[0]
	}
	list, err := q.db.Sessions(ctx, q.filter, q.text("status"))
	switch {
	case err != nil:
		return 0, err
	case len(list) == 0:
		return 0, q.sayNone("sessions")
	case q.json:
		return 0, term.JSONLines(q.out, list)
	}
	var rows [][]term.Piece
	for _, s := range list {
		rows = append(rows, q.sessionRow(s))
	}
	columns, rows := q.withMachines(sessionColumns, rows, func(i int) string { return list[i].Machine })
	return 0, term.Table(q.out, columns, rows)
}

func (q *question) sessionRow(s db.Session) []term.Piece {
	return term.Cells(q.clock(s.Updated), s.Profile, oneLine(s.ID, 40), outcome(s.Status), s.Invocations, s.Attempts,
		tokenText(s.Usage.InputTokens, s.Usage.OutputTokens), spentBy(s.Usage), labelText(s.Name, s.Tags, db.Task{}), oneLine(tilde(s.Dir), 100), oneLine(s.Error, 200))
}

// alertsCommand is belay alerts. It delivers pending alerts first.
func alertsCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	q := newQuestion(from, args)
	err := q.ask(ctx)
	defer q.close()
	if err != nil {
		return 0, err
	}
	if !q.on("fleet") { // each machine delivers its own
		soon, cancel := context.WithTimeout(ctx, 15*time.Second)
		defer cancel()
		if err := deliverAlerts(soon, q.db); err != nil {
			q.say(fmt.Sprintf("cannot deliver alerts: %v", err))
		}
	}
	list, err := q.db.Alerts(ctx, q.filter)
	switch {
	case err != nil:
		return 0, err
	case len(list) == 0:
		return 0, q.sayNone("alerts")
	case q.json:
		return 0, term.JSONLines(q.out, list)
	}
	var rows [][]term.Piece
	for _, a := range list {
		told := term.Styled(term.Warning, "–")
		switch {
		case a.Delivered != nil:
			told = term.Styled(term.Good, q.clock(*a.Delivered))
		case a.Trouble != "":
			told = term.Styled(term.Bad, fmt.Sprintf("failed %d times: %s", a.Tries, oneLine(a.Trouble, 60)))
		}
		rows = append(rows, term.Cells(q.clock(a.Timestamp), oneLine(a.Integration, 30),
			fmt.Sprintf("%d in %s", a.Failures, term.Span(time.Duration(a.WithinMS)*time.Millisecond)), labelText(a.Name, a.Tags, a.Task), told, oneLine(a.Message, 80)))
	}
	columns, rows := q.withMachines(alertColumns, rows, func(i int) string { return list[i].Machine })
	return 0, term.Table(q.out, columns, rows)
}

// auditCommand is belay audit: failures with their classification, and what was changed by hand.
func auditCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	q := newQuestion(from, args)
	err := q.ask(ctx)
	defer q.close()
	if err != nil {
		return 0, err
	}
	list, err := q.db.Audit(ctx, q.filter, q.text("action"))
	switch {
	case err != nil:
		return 0, err
	case len(list) == 0:
		return 0, q.sayNone("")
	case q.json:
		return 0, term.JSONLines(q.out, list)
	}
	var rows [][]term.Piece
	for _, a := range list {
		kind, about, style := "", "", term.Bad
		if a.Category != "" {
			kind, about = strings.Join([]string{a.Severity, a.Category, a.Type}, ", "), pairs(a.Detail)
		}
		if a.Severity == "warning" {
			style = term.Warning
		}
		rows = append(rows, term.Cells(q.clock(a.Timestamp), a.Actor, a.Action, oneLine(a.Subject, 40), term.Styled(style, kind), oneLine(a.Session, 40), oneLine(a.Message, 100),
			oneLine(about, 100)))
	}
	columns, rows := q.withMachines(auditColumns, rows, func(i int) string { return list[i].Machine })
	return 0, term.Table(q.out, columns, rows)
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
