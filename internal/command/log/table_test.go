package log

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
	"github.com/belay-run/belay/verdict"
)

func TestTables_Layouts(t *testing.T) {
	now := time.Date(2026, 11, 16, 18, 0, 0, 0, time.UTC)
	q := &question.Question{Now: now}
	usd := func(v float64) *float64 { return &v }
	const limit = "You've hit your usage limit · resets 3pm (UTC). 利用制限に達しました。Upgrade your plan to go on."

	runs := term.Sheet{Columns: runColumns}
	agents := term.Sheet{Columns: runColumns}
	for i, inv := range []record.Invocation{
		{ID: "20261116T093000-1f0c9a3e", Profile: "claude", Command: "claude", Outcome: record.Outcome{Status: "success", Class: "ok"},
			Effort: record.Effort{Attempts: 1, ResponseMS: 412_000, Usage: verdict.Usage{InputTokens: 1_234_567, OutputTokens: 45_678, CostUSD: usd(12.3456)}}},
		{ID: "20261116T094000-77aa01d2", Profile: "claude", Command: "claude", Outcome: record.Outcome{Status: "exhausted", Class: "session_not_found"},
			Effort: record.Effort{Attempts: 12, WaitMS: 8_105_000, ResponseMS: 59_000, Usage: verdict.Usage{InputTokens: 890_123, OutputTokens: 1_200, CostUSD: usd(0.4213), Estimated: true, Unknown: true}}, Error: limit},
		{ID: "20261116T095000-b3e94c07", Profile: "codex", Command: "codex", Outcome: record.Outcome{Status: "retry", Class: "rate_limit"},
			Effort: record.Effort{Attempts: 3, WaitMS: 12_000, ResponseMS: 900, Usage: verdict.Usage{InputTokens: 12, OutputTokens: 3}}, Error: "429 Too Many Requests"},
		{ID: "20261116T100000-0c4f8e1b", Profile: "generic", Command: "/usr/local/lib/node_modules/tool/bin/a-long-name.js",
			Labels: record.Labels{Name: "nightly", Tags: map[string]string{"team": "web", "env": "ci"}}, Outcome: record.Outcome{Status: "success", Class: "ok"}, Effort: record.Effort{Attempts: 1, ResponseMS: 15}},
	} {
		inv.Ended = now.Add(time.Duration(i-5) * time.Hour)
		if i < 3 {
			agents.Rows = append(agents.Rows, runRow(q, inv))
		}
		if i == 0 {
			inv.Ended = inv.Ended.AddDate(0, 0, -3)
		}
		runs.Rows = append(runs.Rows, runRow(q, inv))
	}

	tabletest.Layouts(t, map[string]term.Sheet{
		"log":        runs,
		"log-agents": agents,
		"log-attempts": {Columns: attemptColumns, Rows: [][]term.Piece{
			term.Cells("2026-11-13 13:00:00", "1f0c9a3e", "1", "claude", "claude", "overloaded, retried", "1", "6m41s", "12s", "API Error: 529 Overloaded"),
			term.Cells("17:00:00", "1f0c9a3e", "2", "claude", "claude", "ok", "0", "15ms", "", "")}},
		"log-tree": {Columns: treeColumns, Rows: [][]term.Piece{
			term.Cells("02:14:09", "1f0c9a3e", "nightly.sh", "nightly env=ci team=web", "ok", "1", "14m", "", "≥ ~$1.8200, 3 runs", ""),
			term.Cells("02:06:41", "77aa01d2", "├ claude", "nightly env=ci team=web", "ok", "1", "6m41s", "$1.1000", "", ""),
			term.Cells("02:14:08", "b3e94c07", "└ codex", "nightly env=ci team=web", "session_not_found, given up", "2", "7m20s", "~$0.7200", "", limit)}},
	})
}
