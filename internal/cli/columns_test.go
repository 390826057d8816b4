package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

var updateTables = flag.Bool("update-tables", false, "write the golden files of tables anew")

// tables are the tables of all commands, with rows as long as they get.
func tables() map[string]term.Sheet {
	usd := func(v float64) *float64 { return &v }
	var bars []term.Bar
	var budgets [][]term.Piece
	for _, e := range []overview.Budget{
		{Name: "nightly", Limit: usd(5), Left: usd(0.8), Window: "day", Spent: 4.2, Warning: true},
		{Name: "a-team-with-a-long-name", Limit: usd(700), Left: usd(0), Window: "month", Spent: 1234.56, Unknown: 4, Closed: true},
		{Name: "new", Limit: usd(7), Left: usd(7), Window: "week"},
		{Name: "counted", Spent: 0.0042, Window: "week"},
	} {
		if e.Limit != nil {
			year, month, day := time.Now().Date()
			e.Ends = &journal.Time{Time: time.Date(year, month, day, 23, 59, 59, 0, time.Local)} // today, whenever that is
		}
		row := e.Row()
		row[4].Text = timeOfDay.ReplaceAllString(row[4].Text, "00:00:00 UTC") // it is that of the test
		budgets, bars = append(budgets, row), append(bars, e.Bar())
	}
	prices := priceCells([]priceRow{
		{Model: "claude-sonnet-4-6-20260301", Vendor: "anthropic", From: "2026-12-01", Price: price.Price{Rates: price.Rates{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, CacheWriteHour: 6},
			Long: &price.Long{Above: 200_000, Rates: price.Rates{Input: 6, Output: 22.5}}}},
		{Model: "gpt-5.6-sol", Vendor: "openai", Price: price.Price{Rates: price.Rates{Input: 1.25, Output: 10, CacheRead: 0.125}}},
		{Model: "a-model-of-my-own", Price: price.Price{Rates: price.Rates{Input: 0.25, Output: 1}}},
	})
	return map[string]term.Sheet{
		"ps": {Columns: psTable, Rows: [][]term.Piece{
			term.Cells("5e0d6a41", "20311", "claude", "nightly env=ci team=web", "4m12s", "running, attempt 2"),
			term.Cells("1f0c9a3e", "4194304", "claude", "", "2h15m", "waiting 1h47m, until 15:00:00: gate anthropic: usage limit, resets at 15:00 (利用制限)"),
			term.Cells("9c41f7be", "", "/usr/local/lib/node_modules/tool/bin/run.js", "", "12m", "killed, left running: 20877 (sleep), 20880 (node)")}},
		"gates": {Columns: gateTable, Rows: [][]term.Piece{
			term.Cells("anthropic:3f9c1a52", "held, breaker half-open", "09:14:58", "2026-11-18 15:00", "12", "usage limit: You've hit your limit · resets 3pm; 5 failures in a row"),
			term.Cells("api", "open", "09:14:58", "–", "1", "503 Service Unavailable"),
			term.Cells("https://a-rather-long-host.example.com/v1", "slow start, 2 at a time", "09:14:58", "–", "0", "429 Too Many Requests")}},
		"budget": {Columns: budgetTable(bars), Rows: budgets},
		"budget-shares": {Columns: shareTable, Rows: [][]term.Piece{
			term.Cells("nightly", "≥ $1234.56, 4 unknown", "claude", "/srv/repositories/a-product/backend", "nightly"),
			term.Cells("nightly", "$0.0042", "codex", "/srv/文書", "")}},
		"prices": {Columns: priceTable, Rows: prices},
		"config": {Columns: settingTable, Rows: [][]term.Piece{
			term.Cells("max-retries (claude)", "5", "BELAY_MAX_RETRIES"),
			term.Cells("rule: quota", `match "quota exceeded", class usage_limit, retry after 1h`, "/home/alex/.config/belay/config.toml:12"),
			term.Cells("alert claude", "20 failures within 10m", "/home/alex/.config/belay/config.toml:31")}},
		"hook-status": {Columns: hookTable, Rows: [][]term.Piece{
			term.Cells("claude", "project", "PreToolUse", "Bash|Edit|Write|MultiEdit", "installed", "belay hook -- python3 $CLAUDE_PROJECT_DIR/.claude/hooks/guard.py --strict"),
			term.Cells("codex", "user", "agent-turn-complete", "", "no: it has a type that belay does not know", "notify-send done")}},
		"mcp-status": {Columns: serverTable, Rows: [][]term.Piece{
			term.Cells("files", "20311", "2h15m", "3", "2", "118.0 MB", "4m ago: exited 137 (out of memory); 2 requests were answered with an error"),
			term.Cells("a-server-with-a-long-name", "4194304", "12s", "1", "0", "–", "–")}},
	}
}

// At 80, 120 and 200 columns every table has what people come for, whole, and no line is wider.
func TestTables_Layouts(t *testing.T) {
	for name, sheet := range tables() {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, width := range []int{80, 120, 200, 0} {
				lines := strings.Join(sheet.Lines(term.Look{Width: width}), "")
				fmt.Fprintf(&b, "%d columns\n%s\n", width, lines)
				for _, line := range strings.Split(lines, "\n") {
					if n := printable.Width(line); width > 0 && n > width {
						t.Errorf("%d columns of %d: %s", n, width, line)
					}
				}
			}
			path := filepath.Join("testdata", "tables", name+".golden")
			if *updateTables {
				os.MkdirAll(filepath.Dir(path), 0o755)
				os.WriteFile(path, []byte(b.String()), 0o644)
			}
			if want, err := os.ReadFile(path); err != nil || b.String() != string(want) {
				t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
			}
		})
	}
}

var timeOfDay = regexp.MustCompile(`\d\d:\d\d:\d\d \w+`)

// What a cell stands for decides its colour.
func TestTables_Styles(t *testing.T) {
	now := time.Now()
	gateIn := func(phase breaker.Phase, until time.Time, hold gate.Hold) overview.Gate {
		return overview.Gate{Entry: gate.Entry{State: gate.State{Breaker: breaker.State{Phase: phase, Failures: 2, Since: now, Until: until}, Hold: hold}}}
	}
	held := gate.Hold{Since: now, Until: now.Add(time.Hour)}
	style := func(g overview.Gate) term.Style { return gateStyle(&g, now) }
	for _, tt := range []struct {
		what      string
		got, want term.Style
	}{
		{"running", runStyle(supervise.Record{}), term.Good}, {"waiting", runStyle(supervise.Record{State: supervise.StateWaiting}), term.Warning},
		{"killed", runStyle(supervise.Record{State: stateKilled}), term.Bad},
		{"open", style(gateIn(breaker.Open, now.Add(5*time.Second), gate.Hold{})), term.Bad}, {"half-open", style(gateIn(breaker.HalfOpen, now, gate.Hold{})), term.Warning},
		{"held, breaker open", style(gateIn(breaker.Open, now.Add(5*time.Second), held)), term.Warning}, {"closed, 2 failures", style(gateIn(breaker.Closed, time.Time{}, gate.Hold{})), term.Good},
		{"full", style(overview.Gate{Full: true}), term.Warning},
		{"open budget", (&overview.Budget{}).Style(), term.Good}, {"closed budget", (&overview.Budget{Closed: true}).Style(), term.Bad}, {"warning", (&overview.Budget{Warning: true}).Style(), term.Warning},
	} {
		if tt.got != tt.want {
			t.Errorf("%s looks %v, want %v", tt.what, tt.got, tt.want)
		}
	}
}
