// Package sessions is belay sessions: sessions of agents, and how they stand.
package sessions

import (
	"context"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
)

// Run is belay sessions.
func Run(ctx context.Context, r *request.Request) (int, error) {
	return question.Answer(ctx, r, answer)
}

var columns = []term.Column{table.Time, {Heading: "PROFILE", Drop: 5}, {Heading: "SESSION", Kind: term.Path, Min: 36, Gist: shortSession},
	{Heading: "STATUS", Kind: term.Whole}, table.Number("RUNS", 3), table.Number("ATTEMPTS", 4), table.Tokens, table.Cost, table.Labels,
	{Heading: "DIRECTORY", Kind: term.Path, Min: 12, Drop: 2, Style: term.Faint}, table.Error}

func answer(ctx context.Context, q *question.Question) error {
	if len(q.Rest) > 0 {
		q.Filter.Session = q.Rest[0]
	}
	list, err := q.DB.Sessions.List(ctx, q.Filter, q.Text("status"))
	if err != nil {
		return err
	}
	return question.Listing[record.Session]{What: "sessions", Columns: columns, Row: func(_ int, s record.Session) []term.Piece { return row(q, s) },
		Machine: func(s record.Session) string { return s.Machine }}.Write(q, list)
}

func row(q *question.Question, s record.Session) []term.Piece {
	return term.Cells(q.Clock(s.Updated), s.Profile, table.OneLine(s.ID, 40), table.Outcome(s.Status), s.Invocations, s.Attempts,
		table.TokensOf(s.Usage.InputTokens, s.Usage.OutputTokens), table.CostOf(s.Usage), table.LabelsOf(s.Name, s.Tags, record.Task{}), table.OneLine(term.Tilde(s.Dir), 100), table.OneLine(s.Error, 200))
}

// shortSession are both ends of a session's id, by which it can be told from others.
func shortSession(id string) string { return printable.CutMiddle(id, 17, "…") }
