// Package events is belay events: final failures, of runs, hooks and MCP servers.
package events

import (
	"context"
	"encoding/json"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
)

// Run is belay events.
func Run(ctx context.Context, r *request.Request) (int, error) {
	return question.Answer(ctx, r, answer)
}

var columns = []term.Column{table.Time, {Heading: "EVENT", Drop: 2}, {Heading: "INTEGRATION", Kind: term.Path}, {Heading: "CLASS", Kind: term.Whole},
	table.Number("RETRIES", 1), table.Error}

func answer(ctx context.Context, q *question.Question) error {
	list, err := q.DB.Trail.Events(ctx, q.Filter, q.Text("category"))
	if err != nil {
		return err
	}
	return question.Listing[record.Event]{What: "events", Columns: columns, Row: func(_ int, e record.Event) []term.Piece {
		m := metadataOf(e)
		return term.Cells(q.Clock(e.Timestamp), e.Category+"/"+e.Type, table.OneLine(m.Integration, 30), table.Outcome(m.Type), m.Retries, table.OneLine(m.Error, 100))
	}, Machine: func(e record.Event) string { return metadataOf(e).Machine }}.Write(q, list)
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
