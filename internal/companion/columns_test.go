package companion

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/verdict"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sheets are the tables of all commands, with rows as long as they get.
func sheets() map[string]term.Sheet {
	now := time.Date(2026, 11, 16, 18, 0, 0, 0, time.UTC)
	q := &question{now: now}
	usd := func(v float64) *float64 { return &v }
	const limit = "You've hit your usage limit · resets 3pm (UTC). 利用制限に達しました。Upgrade your plan to go on."

	runs := term.Sheet{Columns: runColumns}
	agents := term.Sheet{Columns: runColumns}
	for i, inv := range []record.Invocation{
		{ID: "20261116T093000-1f0c9a3e", Profile: "claude", Command: "claude", Status: "success", Class: "ok", Attempts: 1, ResponseMS: 412_000,
			Usage: verdict.Usage{InputTokens: 1_234_567, OutputTokens: 45_678, CostUSD: usd(12.3456)}},
		{ID: "20261116T094000-77aa01d2", Profile: "claude", Command: "claude", Status: "exhausted", Class: "session_not_found", Attempts: 12, WaitMS: 8_105_000, ResponseMS: 59_000,
			Usage: verdict.Usage{InputTokens: 890_123, OutputTokens: 1_200, CostUSD: usd(0.4213), Estimated: true, Unknown: true}, Error: limit},
		{ID: "20261116T095000-b3e94c07", Profile: "codex", Command: "codex", Status: "retry", Class: "rate_limit", Attempts: 3, WaitMS: 12_000, ResponseMS: 900,
			Usage: verdict.Usage{InputTokens: 12, OutputTokens: 3}, Error: "429 Too Many Requests"},
		{ID: "20261116T100000-0c4f8e1b", Profile: "generic", Command: "/usr/local/lib/node_modules/tool/bin/a-long-name.js", Name: "nightly",
			Tags: map[string]string{"team": "web", "env": "ci"}, Status: "success", Class: "ok", Attempts: 1, ResponseMS: 15},
	} {
		inv.Ended = now.Add(time.Duration(i-5) * time.Hour)
		if i < 3 {
			agents.Rows = append(agents.Rows, q.runRow(i, inv))
		}
		if i == 0 {
			inv.Ended = inv.Ended.AddDate(0, 0, -3)
		}
		runs.Rows = append(runs.Rows, q.runRow(i, inv))
	}

	sessions := term.Sheet{Columns: sessionColumns}
	for _, s := range []record.Session{
		{Profile: "claude", ID: "3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66", Status: "done", Updated: now, Invocations: 12, Attempts: 14, Dir: "/srv/repositories/a-product/backend",
			Usage: verdict.Usage{InputTokens: 1_234_567, OutputTokens: 45_678, CostUSD: usd(12.3456)}, Name: "nightly"},
		{Profile: "codex", ID: "0b6d1f4e-0000-4000-8000-000000000001", Status: "interrupted", Updated: now.AddDate(0, 0, -40), Invocations: 1, Attempts: 1, Dir: "/srv/文書",
			Usage: verdict.Usage{InputTokens: 60, OutputTokens: 6, CostUSD: usd(0.01), Estimated: true}, Error: limit},
	} {
		sessions.Rows = append(sessions.Rows, q.sessionRow(0, s))
	}

	figures := []record.Figures{
		{Key: "2026-11-14", Invocations: 1240, Succeeded: 1239, Attempts: 1301, Requests: 20_400, WaitMS: 8_105_000, UnknownCosts: 4,
			Usage: verdict.Usage{InputTokens: 12_345_678, OutputTokens: 456_789, CostUSD: usd(6.03)}},
		{Key: "2026-11-15", Invocations: 3, Succeeded: 0, Attempts: 9, Faults: 2},
		{Key: "2026-11-16", Invocations: 310, Succeeded: 310, Attempts: 310, Requests: 900, EstimatedCosts: 2,
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
		{Key: "2026-11-15", Invocations: 3, Succeeded: 3, Attempts: 9, Requests: 12, UnknownCosts: 1, Usage: verdict.Usage{InputTokens: 60, OutputTokens: 6}},
		{Key: "2026-11-16", Invocations: 31, Succeeded: 31, Attempts: 31, Requests: 90, Usage: verdict.Usage{InputTokens: 1_000, OutputTokens: 200, CostUSD: usd(1.5)}},
	}

	return map[string]term.Sheet{
		"log":            runs,
		"log-agents":     agents,
		"sessions":       sessions,
		"stats-day":      statsSheet(record.ByDay, figures),
		"stats-agents":   statsSheet(record.ByDay, ordinary),
		"stats-model":    statsSheet(record.ByModel, models),
		"stats-class":    statsSheet(record.ByClass, classes),
		"stats-no-costs": statsSheet(record.ByDay, []record.Figures{{Key: "2026-11-15", Invocations: 3, Succeeded: 2, Attempts: 9}}),
		"stats-checks": statsSheet(record.ByDay, []record.Figures{{Key: "2026-11-15", Invocations: 1240, Succeeded: 1198, Attempts: 1301, Requests: 20_400, WaitMS: 8_105_000,
			Usage: verdict.Usage{InputTokens: 345_678, OutputTokens: 56_789, CostUSD: usd(6.03)}, DoneFirst: 1012, DoneLater: 186, NotDone: 42}}),
		"log-attempts": {Columns: attemptColumns, Rows: [][]term.Piece{
			term.Cells("2026-11-13 13:00:00", "1f0c9a3e", "1", "claude", "claude", "overloaded, retried", "1", "6m41s", "12s", "API Error: 529 Overloaded"),
			term.Cells("17:00:00", "1f0c9a3e", "2", "claude", "claude", "ok", "0", "15ms", "", "")}},
		"log-tree": {Columns: treeColumns, Rows: [][]term.Piece{
			term.Cells("02:14:09", "1f0c9a3e", "nightly.sh", "nightly env=ci team=web", "ok", "1", "14m", "", "≥ ~$1.8200, 3 runs", ""),
			term.Cells("02:06:41", "77aa01d2", "├ claude", "nightly env=ci team=web", "ok", "1", "6m41s", "$1.1000", "", ""),
			term.Cells("02:14:08", "b3e94c07", "└ codex", "nightly env=ci team=web", "session_not_found, given up", "2", "7m20s", "~$0.7200", "", limit)}},
		"events": {Columns: eventColumns, Rows: [][]term.Piece{
			term.Cells("09:00:00", "integration/failure", "claude", "session_not_found", "12", limit),
			term.Cells("2026-11-13 09:00:00", "mcp/tool_error", "mcp:a-server-with-a-long-name", "timeout", "0", "no answer within 30s")}},
		"alerts": {Columns: alertColumns, Rows: [][]term.Piece{
			term.Cells("09:00:00", "claude", "5 in 10m", "nightly team=web", "09:00:02", limit),
			term.Cells("2026-11-13 09:00:00", "mcp:a-server-with-a-long-name", "20 in 1h", "", "failed 6 times: dial tcp 192.0.2.7:443: connect: connection refused", "exit 1"),
			term.Cells("09:20:00", "curl", "5 in 10m", "", "–", "connection reset")}},
		"audit": {Columns: auditColumns, Rows: [][]term.Piece{
			term.Cells("14:02:11", "triage", "failure", "claude", "warning, connection, network", "3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66", "connect: connection reset by peer", "step=review ticket=42"),
			term.Cells("15:00:00", "alex", "gate_reset", "anthropic-api-key-1234", "", "", "", "")}},
		"rehearse": {Columns: requestColumns("MODEL"), Indent: "  ", Rows: [][]term.Piece{
			term.Cells("1", "0.41s", "", "POST /v1/messages", "claude-opus-4-8-20260901", "429(retry-after=2)", "429", ""),
			term.Cells("2", "2.43s", "2.02s", "POST /v1/messages", "claude-opus-4-8-20260901", `200(text="Forty-two.", input=1200)`, "200", "1200 in / 12 out, cache 20 read / 400 written"),
			term.Cells("3", "2.99s", "0.56s", "POST /v1/messages", "claude-opus-4-8-20260901", "hang", "none, client left after 1.00s", "7 in / 0 out")}},
		"demo": {Columns: demoColumns, Rows: [][]term.Piece{
			term.Cells("09:00:00", "ask", "1", "retry", "rate_limit", "2.0"), term.Cells("09:00:02", "ask", "2", "success", "", "")}},
	}
}

// At 80, 120 and 200 columns every table has what people come for, whole, and no line is wider.
func TestTables_Layouts(t *testing.T) {
	for name, sheet := range sheets() {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, width := range []int{80, 120, 200, 0} {
				lines := sheet.Lines(term.Look{Width: width})
				fmt.Fprintf(&b, "%d columns\n%s\n", width, strings.Join(lines, ""))
				for _, line := range strings.Split(strings.Join(lines, ""), "\n") {
					if n := printable.Width(line); width > 0 && n > width {
						t.Errorf("%d columns of %d: %s", n, width, line)
					}
				}
			}
			path := filepath.Join("testdata", "tables", name+".golden")
			if *update {
				os.MkdirAll(filepath.Dir(path), 0o755)
				os.WriteFile(path, []byte(b.String()), 0o644)
			}
			if want, err := os.ReadFile(path); err != nil || b.String() != string(want) {
				t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
			}
		})
	}
}

// What a cell stands for decides its colour.
func TestTables_Styles(t *testing.T) {
	for _, tt := range []struct {
		cell term.Piece
		want term.Style
	}{
		{outcome("ok"), term.Good}, {outcome("done"), term.Good}, {outcome("crash"), term.Bad}, {outcome("interrupted"), term.Warning},
		{outcome("running"), term.Plain}, {outcome("abandoned"), term.Faint}, {result("retry", "rate_limit"), term.Warning}, {result("exhausted", "rate_limit"), term.Bad},
		{rateCell(record.Figures{Invocations: 3, Succeeded: 3}), term.Good}, {rateCell(record.Figures{Invocations: 3}), term.Bad},
		{rateCell(record.Figures{Invocations: 10_000, Succeeded: 9_999}), term.Plain}, {rateCell(record.Figures{}), term.Plain},
		{term.Styled(answerStyle(rehearse.Request{Status: 200, End: rehearse.Whole}), "200"), term.Good},
		{term.Styled(answerStyle(rehearse.Request{Status: 429, End: rehearse.Whole}), "429"), term.Warning},
		{term.Styled(answerStyle(rehearse.Request{Status: 200, End: rehearse.CutByUs}), "200, cut"), term.Bad},
	} {
		if tt.cell.Style != tt.want {
			t.Errorf("%q looks %v, want %v", tt.cell.Text, tt.cell.Style, tt.want)
		}
	}
}
