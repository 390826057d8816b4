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
	return question.Answer(ctx, r, func(ctx context.Context, q *question.Question) error { return List(ctx, q, q.Text("category")) })
}

var columns = []term.Column{table.Time, table.Run, {Heading: "EVENT", Drop: 2}, {Heading: "INTEGRATION", Kind: term.Path}, {Heading: "CLASS", Kind: term.Whole},
	table.Labels, table.Number("RETRIES", 1), table.Error}

// List lists those of a category; empty for all.
func List(ctx context.Context, q *question.Question, category string) error {
	list, err := q.DB.Trail.Events(ctx, q.Filter, category)
	if err != nil {
		return err
	}
	return question.Listing[record.Event]{What: "events", Columns: columns, Row: func(_ int, e record.Event) []term.Piece {
		m := metadataOf(e)
		return term.Cells(q.Clock(e.Timestamp), table.RunOf(m.Run), e.Category+"/"+e.Type, table.OneLine(m.Integration, 30), table.ResultOf("", m.Type, m.ExitCode), table.LabelsOf(m.Name, m.Tags, m.Task), m.Retries, table.OneLine(m.Error, 100))
	}, Machine: func(e record.Event) string { return metadataOf(e).Machine }}.Write(q, list)
}

// metadata is what an event tells that is shown.
type metadata struct {
	Integration string `json:"integration"`
	Error       string `json:"error"`
	Type        string `json:"error_type"`
	Retries     int    `json:"retry_count"`
	Run         string `json:"invocation"`
	ExitCode    int    `json:"exit_code"`
	record.Labels
	record.Task
}

func metadataOf(e record.Event) (m metadata) {
	json.Unmarshal(e.Metadata, &m)
	return m
}
