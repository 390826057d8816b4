package top

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

var update = flag.Bool("update", false, "write the golden files anew")

var at = time.Date(2026, 11, 16, 14, 3, 22, 0, time.UTC)

func cost(usd float64) *float64 { return &usd }

// example is a busy afternoon.
func example() Snapshot {
	owner := func(pid int) supervise.Owner { return supervise.Owner{PID: pid} }
	return Snapshot{
		At: at,
		Runs: []supervise.Record{
			{ID: "20261116-130158-1f0c9a3e", Command: "claude", Profile: "claude", Started: at.Add(-84 * time.Second), State: supervise.StateRunning, Attempt: 1,
				Activity: "tool Bash", Tokens: 12_345, CostUSD: cost(0.1234), Session: "3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66", Name: "nightly",
				Tags: map[string]string{"team": "web"}, Project: "/home/me/src/shop", Owner: owner(20311)},
			{ID: "20261116-120000-9c41f7be", Command: "claude", Profile: "claude", Started: at.Add(-2*time.Hour - 3*time.Minute), State: supervise.StateWaiting, Attempt: 3,
				Tokens: 1_234_567, CostUSD: cost(12.5), Reason: "gate claude/api: claude hit its usage limit", Until: at.Add(56*time.Minute + 38*time.Second), Owner: owner(20412)},
			{ID: "20261116-140310-5e0d6a41", Command: "make", Profile: "generic", Started: at.Add(-12 * time.Second), State: supervise.StateRunning, Attempt: 2, Owner: owner(9)},
			{ID: "20261116-140311-00ab17cd", Command: "codex", Profile: "codex", Started: at.Add(-11 * time.Second), State: supervise.StateWaiting,
				Reason: "gate codex: all 2 slots are taken", Owner: owner(31)},
			{ID: "20261116-090000-77777777", Command: "npm", Started: at.Add(-5 * time.Hour), State: supervise.StateKilled,
				Left: []supervise.Proc{{PID: 20877, Name: "sleep"}, {PID: 20880, Name: "node"}}},
		},
		Gates: []Gate{
			{Key: "claude/api", State: "held", Since: at.Add(-time.Hour), Until: at.Add(56*time.Minute + 38*time.Second), Reason: "claude hit its usage limit",
				Closed: true, Waiting: []string{"9c41f7be (claude)"}},
			{Key: "codex", State: "full", Reason: "all 2 slots are taken", Closed: true, Full: true, Waiting: []string{"00ab17cd (codex)"}},
			{Key: "https://api.example.com", State: "closed, 2 failures", Since: at.Add(-3 * time.Minute), Reason: "server_error: 503"},
		},
		Budgets: []overview.Budget{
			{Name: "nightly", Spent: 3.1, Limit: new(5.0), Left: new(1.9), Window: "day", Ends: &journal.Time{Time: at.Add(10 * time.Hour)}},
			{Name: "team", Spent: 50.004, Limit: new(50.0), Left: new(0.0), Window: "month", Closed: true, Ends: &journal.Time{Time: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}},
			{Name: "counted", Spent: 0.0042, Unknown: 2, Window: "day"},
		},
		Today: Spend{Runs: 31, Failed: 2, InputTokens: 1_200_000, OutputTokens: 40_000, CostUSD: 17.2345, Estimated: 1, Unknown: 2},
	}
}

func lines() []journal.Entry {
	code := 1
	return []journal.Entry{
		{Timestamp: journal.Time{Time: at.Add(-2 * time.Hour)}, Attempt: 1, Status: journal.Retry, ErrorType: verdict.RateLimit, Error: "API Error: 429 rate_limit_error: This request would exceed your organization's rate limit of 50,000 input tokens per minute.",
			ExitCode: 1, ResponseTime: 61.5, WaitTime: 30, Usage: []byte(`{"input_tokens":1000,"output_tokens":200,"total_cost_usd":0.25}`)},
		{Timestamp: journal.Time{Time: at.Add(-time.Hour)}, Attempt: 2, Status: journal.Error, ErrorType: verdict.Interrupted, ExitCode: -1, BelayCode: &code, Signal: "SIGTERM", ResponseTime: 5},
		{Timestamp: journal.Time{Time: at.Add(-30 * time.Hour)}, Attempt: 3, Status: journal.Success, ResponseTime: 3600},
	}
}

// plain is a screen as text, without the spaces at the ends of its lines.
func plain(rows []string) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(strings.TrimRight(ansi.Strip(row), " ") + "\n")
	}
	return b.String()
}

// The golden files show the screen as a user sees it, at three sizes.
func TestModel_Rows(t *testing.T) {
	press := func(keys ...string) func(*Model) {
		return func(m *Model) {
			for _, k := range keys {
				m.Press(k)
			}
		}
	}
	many := func(m *Model) {
		s := example()
		for i := range 60 {
			s.Runs = append(s.Runs, supervise.Record{ID: fmt.Sprintf("run-%08d", i), Command: "sh", State: supervise.StateRunning, Started: at})
		}
		m.Update(s)
	}
	for name, prepare := range map[string]func(*Model){
		"runs":   func(*Model) {},
		"gates":  press("tab", "j"),
		"run":    func(m *Model) { press("j", "enter")(m); m.SetLines("20261116-120000-9c41f7be", lines()) },
		"gate":   press("tab", "enter"),
		"help":   press("?"),
		"cancel": press("x"),
		"reap":   press("G", "x"),
		"reset":  press("tab", "r"),
		"many":   func(m *Model) { many(m); press("j", "j", "pgdown", "pgdown")(m) },
		"limits": func(m *Model) {
			s := example()
			s.Limits = overview.LimitsOf([]gate.Entry{{Key: "claude:api.anthropic.com:d1c0b541", State: gate.State{Quota: quota.Quota{
				{Name: "five_hour", Used: 0.84, Resets: at.Add(80 * time.Minute), Told: at, Trail: []quota.Point{{At: at.Add(-time.Hour), Used: 0.64}}},
				{Name: "seven_day", Used: 0.17, Resets: at.Add(96 * time.Hour), Told: at, Trail: []quota.Point{{At: at.Add(-time.Hour), Used: 0.16}}}}}},
				{Key: "codex\x1b[2J", State: gate.State{Quota: quota.Quota{{Name: "full", Used: 1000, Resets: at.Add(time.Hour), Told: at}}}}}, at)
			m.Update(s)
		},
		"empty": func(m *Model) {
			m.Update(Snapshot{At: at, Trouble: "the log cannot be read: permission denied"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var all strings.Builder
			for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 10}} {
				m := new(Model)
				m.Update(example())
				prepare(m)
				m.Fit(size[0], size[1])
				rows := m.Rows(size[0], size[1])
				check(t, rows, size[0], size[1])
				fmt.Fprintf(&all, "-- %dx%d --\n%s", size[0], size[1], plain(rows))
			}
			golden(t, name, all.String())
		})
	}
	m := new(Model)
	m.Update(example())
	golden(t, "pipe", plain(m.Rows(0, 0)))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		must.OK(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("the screen is not that of %s (-update writes it anew):\n%s", path, got)
	}
}

// check fails if a screen does not fit.
func check(t *testing.T, rows []string, columns, height int) {
	t.Helper()
	if len(rows) != height {
		t.Errorf("%d rows on a screen of %d", len(rows), height)
	}
	for i, row := range rows {
		if n := width(row); n > columns {
			t.Errorf("row %d takes %d columns of %d: %q", i, n, columns, ansi.Strip(row))
		}
	}
}
