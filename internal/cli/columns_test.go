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

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/term"
)

var updateTables = flag.Bool("update-tables", false, "write the golden files of tables anew")

// tables are those of all commands, with rows as long as they get.
func tables() map[string]term.Sheet {
	usd := func(v float64) *float64 { return &v }
	var bars []term.Bar
	var budgets [][]string
	for _, e := range []budgetEntry{
		{Name: "nightly", Limit: usd(5), Left: usd(0.8), Window: "day", Spent: 4.2, Warning: true},
		{Name: "a-team-with-a-long-name", Limit: usd(700), Left: usd(0), Window: "month", Spent: 1234.56, Unknown: 4, Closed: true},
		{Name: "new", Limit: usd(7), Left: usd(7), Window: "week"},
		{Name: "counted", Spent: 0.0042, Window: "week"},
	} {
		if e.Limit != nil {
			year, month, day := time.Now().Date()
			e.Ends = &journal.Time{Time: time.Date(year, month, day, 23, 59, 59, 0, time.Local)} // today, whenever that is
		}
		row := e.row()
		row[4] = timeOfDay.ReplaceAllString(row[4], "00:00:00 UTC") // it is that of the test
		budgets, bars = append(budgets, row), append(bars, e.bar())
	}
	prices := priceCells([]priceRow{
		{Model: "claude-sonnet-4-6-20260301", Vendor: "anthropic", From: "2026-12-01", Price: price.Price{Rates: price.Rates{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, CacheWriteHour: 6},
			Long: &price.Long{Above: 200_000, Rates: price.Rates{Input: 6, Output: 22.5}}}},
		{Model: "gpt-5.6-sol", Vendor: "openai", Price: price.Price{Rates: price.Rates{Input: 1.25, Output: 10, CacheRead: 0.125}}},
		{Model: "a-model-of-my-own", Price: price.Price{Rates: price.Rates{Input: 0.25, Output: 1}}},
	})
	return map[string]term.Sheet{
		"ps": {Columns: psTable, Rows: [][]string{
			{"5e0d6a41", "20311", "claude", "nightly env=ci team=web", "4m12s", "running, attempt 2"},
			{"1f0c9a3e", "4194304", "claude", "", "2h15m", "waiting 1h47m, until 15:00:00: gate anthropic: usage limit, resets at 15:00 (利用制限)"},
			{"9c41f7be", "", "/usr/local/lib/node_modules/tool/bin/run.js", "", "12m", "killed, left running: 20877 (sleep), 20880 (node)"}}},
		"gates": {Columns: gateTable, Rows: [][]string{
			{"anthropic:3f9c1a52", "held, breaker half-open", "09:14:58", "2026-11-18 15:00", "12", "usage limit: You've hit your limit · resets 3pm; 5 failures in a row"},
			{"api", "open", "09:14:58", "–", "1", "503 Service Unavailable"},
			{"https://a-rather-long-host.example.com/v1", "slow start, 2 at a time", "09:14:58", "–", "0", "429 Too Many Requests"}}},
		"budget": {Columns: budgetTable(bars), Rows: budgets},
		"budget-shares": {Columns: shareTable, Rows: [][]string{
			{"nightly", "≥ $1234.56, 4 unknown", "claude", "/srv/repositories/a-product/backend", "nightly"},
			{"nightly", "$0.0042", "codex", "/srv/文書", ""}}},
		"prices": {Columns: priceTable, Rows: prices},
		"config": {Columns: settingTable, Rows: [][]string{
			{"max-retries (claude)", "5", "BELAY_MAX_RETRIES"},
			{"rule: quota", `match "quota exceeded", class usage_limit, retry after 1h`, "/home/alex/.config/belay/config.toml:12"},
			{"alert claude", "20 failures within 10m", "/home/alex/.config/belay/config.toml:31"}}},
		"hook-status": {Columns: hookTable, Rows: [][]string{
			{"claude", "project", "PreToolUse", "Bash|Edit|Write|MultiEdit", "installed", "belay hook -- python3 $CLAUDE_PROJECT_DIR/.claude/hooks/guard.py --strict"},
			{"codex", "user", "agent-turn-complete", "", "no: it has a type that belay does not know", "notify-send done"}}},
		"mcp-status": {Columns: serverTable, Rows: [][]string{
			{"files", "20311", "2h15m", "3", "2", "4m ago: exited 137 (out of memory); 2 requests were answered with an error"},
			{"a-server-with-a-long-name", "4194304", "12s", "1", "0", "–"}}},
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

func TestTables_Styles(t *testing.T) {
	for _, tt := range []struct {
		means func(string) term.Style
		text  string
		want  term.Style
	}{
		{stateStyle, "running, attempt 2", term.Good}, {stateStyle, "waiting: gate api", term.Warning}, {stateStyle, "killed, left running: 1 (sh)", term.Bad},
		{stateStyle, "open", term.Bad}, {stateStyle, "half-open", term.Warning}, {stateStyle, "held, breaker open", term.Warning}, {stateStyle, "closed, 2 failures", term.Good},
		{budgetStyle, "open; new window at 00:00", term.Good}, {budgetStyle, "closed; opens again at 00:00", term.Bad}, {budgetStyle, "warning: 84 % are spent", term.Warning},
		{hookStyle, "installed", term.Good}, {hookStyle, "no", term.Warning},
	} {
		if got := tt.means(tt.text); got != tt.want {
			t.Errorf("%q means %v, want %v", tt.text, got, tt.want)
		}
	}
}
