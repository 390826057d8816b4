package budget

import (
	"regexp"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
)

var timeOfDay = regexp.MustCompile(`\d\d:\d\d:\d\d \w+`)

// The tables of budgets have long names and large amounts.
func TestTable_Layout(t *testing.T) {
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
	tabletest.Layouts(t, map[string]term.Sheet{"budget": {Columns: budgetTable(bars), Rows: budgets}, "budget-shares": {Columns: shareTable, Rows: [][]term.Piece{
		term.Cells("nightly", "≥ $1234.56, 4 unknown", "claude", "/srv/repositories/a-product/backend", "nightly"),
		term.Cells("nightly", "$0.0042", "codex", "/srv/文書", "")}}})
}

// How a budget stands decides its colour.
func TestBudget_Style(t *testing.T) {
	for _, tt := range []struct {
		what   string
		budget overview.Budget
		want   term.Style
	}{
		{"open budget", overview.Budget{}, term.Good}, {"closed budget", overview.Budget{Closed: true}, term.Bad}, {"warning", overview.Budget{Warning: true}, term.Warning},
	} {
		if got := tt.budget.Style(); got != tt.want {
			t.Errorf("%s looks %v, want %v", tt.what, got, tt.want)
		}
	}
}
