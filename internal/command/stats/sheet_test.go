package stats

import (
	"testing"

	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
	"github.com/belay-run/belay/verdict"
)

func TestTables_Layouts(t *testing.T) {
	usd := func(v float64) *float64 { return &v }
	figures := []record.Figures{
		{Key: "2026-11-14", Invocations: 1240, Succeeded: 1239, Attempts: 1301, Requests: 20_400, WaitMS: 8_105_000, Unknown: record.Unknown{UnknownCosts: 4},
			Usage: verdict.Usage{InputTokens: 12_345_678, OutputTokens: 456_789, CostUSD: usd(6.03)}},
		{Key: "2026-11-15", Invocations: 3, Succeeded: 0, Attempts: 9, Faults: 2},
		{Key: "2026-11-16", Invocations: 310, Succeeded: 310, Attempts: 310, Requests: 900, Unknown: record.Unknown{EstimatedCosts: 2},
			Usage: verdict.Usage{InputTokens: 1_000, OutputTokens: 200, CostUSD: usd(1.5)}},
	}
	models := append([]record.Figures{}, figures...)
	for i, name := range []string{"claude-opus-4-8-20260901[1m]", "", "gpt-5.6-sol"} {
		models[i].Key = name
	}
	classes := append([]record.Figures{}, figures[:2]...)
	classes[0].Key, classes[1].Key = "ok", "session_not_found"
	ordinary := []record.Figures{
		{Key: "2026-11-14", Invocations: 124, Succeeded: 120, Attempts: 130, Requests: 2_040, WaitMS: 8_105_000, Usage: verdict.Usage{InputTokens: 345_678, OutputTokens: 56_789, CostUSD: usd(6.03)}},
		{Key: "2026-11-15", Invocations: 3, Succeeded: 3, Attempts: 9, Requests: 12, Unknown: record.Unknown{UnknownCosts: 1}, Usage: verdict.Usage{InputTokens: 60, OutputTokens: 6}},
		{Key: "2026-11-16", Invocations: 31, Succeeded: 31, Attempts: 31, Requests: 90, Usage: verdict.Usage{InputTokens: 1_000, OutputTokens: 200, CostUSD: usd(1.5)}},
	}

	tabletest.Layouts(t, map[string]term.Sheet{
		"stats-day":      sheet(record.ByDay, figures),
		"stats-agents":   sheet(record.ByDay, ordinary),
		"stats-model":    sheet(record.ByModel, models),
		"stats-class":    sheet(record.ByClass, classes),
		"stats-no-costs": sheet(record.ByDay, []record.Figures{{Key: "2026-11-15", Invocations: 3, Succeeded: 2, Attempts: 9}}),
		"stats-checks": sheet(record.ByDay, []record.Figures{{Key: "2026-11-15", Invocations: 1240, Succeeded: 1198, Attempts: 1301, Requests: 20_400, WaitMS: 8_105_000,
			Usage: verdict.Usage{InputTokens: 345_678, OutputTokens: 56_789, CostUSD: usd(6.03)}, Checked: record.Checked{DoneFirst: 1012, DoneLater: 186, NotDone: 42}}}),
	})
}

func TestTables_Styles(t *testing.T) {
	tabletest.Styles(t, map[term.Style][]term.Piece{
		term.Good:  {rateCell(record.Figures{Invocations: 3, Succeeded: 3})},
		term.Bad:   {rateCell(record.Figures{Invocations: 3})},
		term.Plain: {rateCell(record.Figures{Invocations: 10_000, Succeeded: 9_999}), rateCell(record.Figures{})},
	})
}
