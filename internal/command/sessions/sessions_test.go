package sessions

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
	"github.com/belay-run/belay/verdict"
)

func TestTable_Layouts(t *testing.T) {
	now := time.Date(2026, 11, 16, 18, 0, 0, 0, time.UTC)
	q := &question.Question{Now: now}
	usd := func(v float64) *float64 { return &v }
	const limit = "You've hit your usage limit · resets 3pm (UTC). 利用制限に達しました。Upgrade your plan to go on."

	sessions := term.Sheet{Columns: columns}
	for _, s := range []record.Session{
		{Profile: "claude", ID: "3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66", Status: "done", Updated: now, Invocations: 12, Attempts: 14, Dir: "/srv/repositories/a-product/backend",
			Usage: verdict.Usage{InputTokens: 1_234_567, OutputTokens: 45_678, CostUSD: usd(12.3456)}, Labels: record.Labels{Name: "nightly"}},
		{Profile: "codex", ID: "0b6d1f4e-0000-4000-8000-000000000001", Status: "interrupted", Updated: now.AddDate(0, 0, -40), Invocations: 1, Attempts: 1, Dir: "/srv/文書",
			Usage: verdict.Usage{InputTokens: 60, OutputTokens: 6, CostUSD: usd(0.01), Estimated: true}, Error: limit},
	} {
		sessions.Rows = append(sessions.Rows, row(q, s))
	}

	tabletest.Layouts(t, map[string]term.Sheet{
		"sessions": sessions,
	})
}
