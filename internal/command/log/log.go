// Package log is belay log: past runs, their attempts, the tree of runs inside others, the story of one run, and what else is on record.
package log

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
)

// Run is belay log: the runs, the attempts, or the story of one run.
func Run(ctx context.Context, r *request.Request) (int, error) {
	return question.Answer(ctx, r, answer)
}

func answer(ctx context.Context, q *question.Question) error {
	switch {
	case len(q.Rest) > 1:
		return &request.UsageError{Err: message.Error(fmt.Sprintf("belay log takes the id of one run, not %d", len(q.Rest)))}
	case len(q.Rest) == 1:
		q.Filter.Invocation = q.Rest[0]
	}
	if q.On("failed") {
		q.Filter.Class = record.Failed
	}
	if kind := q.Text("kind"); kind != "" {
		return view(ctx, q, kind)
	}
	if q.On("tree") {
		if q.On("attempts") || q.On("follow") {
			return &request.UsageError{Err: message.Error("--tree cannot be used together with --attempts or --follow")}
		}
		return tree(ctx, q)
	}
	if q.Filter.Invocation != "" {
		return story(ctx, q)
	}
	switch {
	case q.On("follow") && q.On("attempts"):
		return follow(ctx, q, q.DB.Runs.Attempts, attempts(q), func(a record.Attempt) (string, time.Time) { return a.Invocation + a.Ended.String(), a.Ended })
	case q.On("follow"):
		return follow(ctx, q, q.DB.Runs.Invocations, runs(q), func(i record.Invocation) (string, time.Time) { return i.ID + i.Status, i.Ended })
	case q.On("attempts"):
		list, err := q.DB.Runs.Attempts(ctx, q.Filter)
		return errors.Join(err, attempts(q).Write(q, list))
	}
	list, err := q.DB.Runs.Invocations(ctx, q.Filter)
	return errors.Join(err, runs(q).Write(q, list), writeOthers(ctx, q, list))
}

// writeOthers says how many failures there are, in the time of a list of runs, that are not of runs. Those have no labels.
func writeOthers(ctx context.Context, q *question.Question, list []record.Invocation) error {
	f := q.Filter
	if q.JSON || f.Name != "" || f.Tags != nil || f.Project != "" || f.Batch != "" {
		return nil
	}
	if f.Since.IsZero() && f.Limit > 0 && len(list) == f.Limit {
		f.Since = list[0].Ended
	}
	n, err := q.DB.Trail.OtherFailures(ctx, f)
	if n == 0 {
		return err
	}
	return errors.Join(err, term.Line(q.Out, fmt.Sprintf("also on record: %s of hooks, MCP servers or Go programs; see: belay log --kind events", message.Count(n, "failure"))))
}

var runColumns = []term.Column{table.Time, table.Run, table.Profile(2), table.Command, table.Labels, table.Result, table.Number("ATTEMPTS", 5), table.Number("WAITED", 3),
	table.Number("TOOK", 4), table.Tokens, table.Cost, table.Why}

// runs lists a line a run.
func runs(q *question.Question) question.Listing[record.Invocation] {
	return question.Listing[record.Invocation]{Columns: runColumns, Row: func(_ int, i record.Invocation) []term.Piece { return runRow(q, i) },
		Machine: func(i record.Invocation) string { return i.Machine }}
}

func runRow(q *question.Question, i record.Invocation) []term.Piece {
	return term.Cells(q.Clock(i.Ended), printable.ShortID(i.ID), table.OneLine(i.Profile, 20), table.OneLine(i.Command, 100), table.LabelsOf(i.Name, i.Tags, i.Task), table.ResultOf(i.Status, i.Class, i.ExitCode),
		i.Attempts, table.Span(i.WaitMS), table.Span(i.ResponseMS), table.TokensOf(i.Usage.InputTokens, i.Usage.OutputTokens), table.CostOf(i.Usage), table.WhyOf(i.Class, i.Error, i.Why))
}

var attemptColumns = []term.Column{table.Time, table.Run, table.Number("ATTEMPT", 0), table.Profile(3), table.Command, table.Result, table.Number("EXIT", 0), table.Number("TOOK", 0),
	table.Number("WAITED", 1), table.Error}

// attempts lists a line an attempt, as the log has them.
func attempts(q *question.Question) question.Listing[record.Attempt] {
	return question.Listing[record.Attempt]{Columns: attemptColumns, Row: func(_ int, a record.Attempt) []term.Piece {
		return term.Cells(q.Clock(a.Ended), printable.ShortID(a.Invocation), a.Attempt, table.OneLine(a.Profile, 20), table.OneLine(a.Command, 100),
			table.ResultOf(a.Status, a.Class, a.ExitCode), a.ExitCode, table.Span(a.ResponseMS), table.Span(a.WaitMS-a.InnerMS), table.OneLine(a.Error, 200))
	}, Machine: func(a record.Attempt) string { return a.Machine }}
}
