// Package alerts is belay alerts: what has failed again and again, after delivery of what is pending.
package alerts

import (
	"context"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/alert/delivery"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
)

// Run is belay alerts.
func Run(ctx context.Context, r *request.Request) (int, error) {
	return question.Answer(ctx, r, List)
}

var columns = []term.Column{table.Time, table.Run, {Heading: "INTEGRATION", Kind: term.Path}, {Heading: "FAILURES", Kind: term.Whole}, table.Labels,
	{Heading: "DELIVERED", Min: 16}, {Heading: "LAST ERROR", Kind: term.Note, Style: term.Bad}}

// List lists them.
func List(ctx context.Context, q *question.Question) error {
	if !q.On("fleet") { // each machine delivers its own
		soon, cancel := context.WithTimeout(ctx, 15*time.Second)
		defer cancel()
		if err := delivery.Deliver(soon, q.DB); err != nil {
			q.Say(fmt.Sprintf("cannot deliver alerts: %v", err))
		}
	}
	list, err := q.DB.Alerts.List(ctx, q.Filter)
	if err != nil {
		return err
	}
	return question.Listing[record.Alert]{What: "alerts", Columns: columns, Row: func(_ int, a record.Alert) []term.Piece {
		told := term.Styled(term.Warning, "–")
		switch {
		case a.Delivered != nil:
			told = term.Styled(term.Good, q.Clock(*a.Delivered))
		case a.Trouble != "":
			told = term.Styled(term.Bad, fmt.Sprintf("failed %d times: %s", a.Tries, table.OneLine(a.Trouble, 60)))
		}
		why := "forecast"
		if a.Failures > 0 {
			why = fmt.Sprintf("%d in %s", a.Failures, term.Span(time.Duration(a.WithinMS)*time.Millisecond))
		}
		return term.Cells(q.Clock(a.Timestamp), table.RunOf(a.Invocation), table.OneLine(a.Integration, 30), why, table.LabelsOf(a.Name, a.Tags, a.Task), told, table.OneLine(a.Message, 80))
	}, Machine: func(a record.Alert) string { return a.Machine }}.Write(q, list)
}
