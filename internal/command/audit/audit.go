// Package audit is belay audit: failures with their classification, and what was changed by hand.
package audit

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
)

// Run is belay audit.
func Run(ctx context.Context, r *request.Request) (int, error) {
	return question.Answer(ctx, r, func(ctx context.Context, q *question.Question) error { return List(ctx, q, q.Text("action")) })
}

var columns = []term.Column{table.Time, table.Run, {Heading: "ACTOR", Drop: 2}, {Heading: "ACTION", Kind: term.Whole}, {Heading: "SUBJECT", Kind: term.Path},
	{Heading: "KIND", Kind: term.Whole, Gist: lastWord}, {Heading: "SESSION", Kind: term.Path, Drop: 4, Min: 13}, {Heading: "MESSAGE", Min: 30},
	{Heading: "CONTEXT", Kind: term.Note}}

// List lists those of an action; empty for all.
func List(ctx context.Context, q *question.Question, action string) error {
	list, err := q.DB.Trail.Audit(ctx, q.Filter, action)
	if err != nil {
		return err
	}
	return question.Listing[record.AuditRow]{Columns: columns, Row: func(_ int, a record.AuditRow) []term.Piece {
		kind, about, style := "", "", term.Bad
		if a.Category != "" {
			kind, about = strings.Join([]string{a.Severity, a.Category, a.Type}, ", "), pairs(a.Detail)
		}
		if a.Severity == "warning" {
			style = term.Warning
		}
		return term.Cells(q.Clock(a.Timestamp), table.RunOf(a.Invocation), a.Actor, a.Action, table.OneLine(a.Subject, 40), term.Styled(style, kind), table.OneLine(a.Session, 40),
			table.OneLine(a.Message, 100), table.OneLine(about, 100))
	}, Machine: func(a record.AuditRow) string { return a.Machine }}.Write(q, list)
}

// lastWord is the type of a failure without its severity and category.
func lastWord(kind string) string { return kind[strings.LastIndex(kind, " ")+1:] }

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
