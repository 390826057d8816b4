package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// runTable is a line for each run.
func runTable(s *Snapshot, columns int) (heading string, rows []string) {
	head := []column{{heading: "ID", drop: 4}, {heading: "COMMAND", most: 16}, {heading: "PID", right: true, drop: 7}, {heading: "LABELS", most: 24, drop: 6},
		{heading: "TIME", right: true}, {heading: "TOKENS", right: true, drop: 5}, {heading: "COST", right: true}, {heading: "NOW"}}
	var lines []line
	for _, r := range s.Runs {
		pid, tokens, cost, elapsed := "", "", "", ""
		if r.Owner.PID > 0 && r.State != supervise.StateKilled {
			pid = fmt.Sprint(r.Owner.PID)
		}
		if r.Tokens > 0 {
			tokens = short(r.Tokens)
		}
		if r.CostUSD != nil {
			cost = dollars(*r.CostUSD)
		}
		if !r.Started.IsZero() {
			elapsed = span(s.At.Sub(r.Started))
		}
		lines = append(lines, line{[]string{printable.ShortID(r.ID), r.Command, pid, label.Labels{Name: r.Name, Tags: r.Tags}.String(), elapsed, tokens, cost, now(r, s.At)}, runStyle(r)})
	}
	if heading, rows = table(columns, columns*2/5, head, lines); len(rows) == 0 {
		return paint(noMarker+"RUNS", term.Faint), []string{noMarker + message.NothingRunning()}
	}
	return heading, rows
}

// span is how long something takes, in whole seconds.
func span(d time.Duration) string { return term.Span(max(0, d).Truncate(time.Second)) }

func runStyle(r supervise.Record) term.Style {
	switch r.State {
	case supervise.StateWaiting:
		return term.Warning
	case supervise.StateKilled:
		return term.Bad
	}
	return term.Plain
}

// now says what a run is doing.
func now(r supervise.Record, at time.Time) string {
	switch {
	case r.State == supervise.StateKilled && len(r.Left) == 0:
		return "killed"
	case r.State == supervise.StateKilled:
		return message.KilledState(processes(r.Left))
	case r.State == supervise.StateWaiting && r.Until.IsZero(): // it is not known when a slot or a scope is free
		return message.WaitingState(0, "", r.Reason)
	case r.State == supervise.StateWaiting:
		return message.WaitingState(max(0, r.Until.Sub(at)+time.Second-1).Truncate(time.Second), clock(r.Until, at), r.Reason)
	}
	text := cmp.Or(r.Activity, "running")
	if r.Attempt > 1 {
		text += fmt.Sprintf(" (attempt %d)", r.Attempt)
	}
	if r.Memory > 0 {
		text += ", " + term.Size(r.Memory)
	}
	return text
}

func processes(list []supervise.Proc) (names []string) {
	for _, p := range list {
		names = append(names, p.String())
	}
	return names
}

// gateTable is a line for each gate that is not healthy.
func gateTable(s *Snapshot, columns int) (heading string, rows []string) {
	head := []column{{heading: "GATE", most: 32}, {heading: "STATE", most: 28}, {heading: "UNTIL", drop: 1}, {heading: "LEFT", right: true, drop: 2},
		{heading: "WAITING", right: true, drop: 3}, {heading: "REASON"}}
	var lines []line
	for _, g := range s.Gates {
		until, left := "", ""
		if !g.Until.IsZero() {
			until, left = clock(g.Until, s.At), span(g.Until.Sub(s.At)+time.Second-1)
		}
		style := term.Warning
		if !g.Closed {
			style = term.Plain
		}
		lines = append(lines, line{[]string{g.Key, g.State, until, left, fmt.Sprint(len(g.Waiting)), g.Reason}, style})
	}
	if heading, rows = table(columns, columns/4, head, lines); len(rows) == 0 {
		return paint(noMarker+"GATES", term.Faint), []string{noMarker + message.GatesHealthy()}
	}
	return heading, rows
}

// budgetTable is a line for each budget.
func budgetTable(s *Snapshot, columns int) (heading string, rows []string) {
	head := []column{{heading: "BUDGET", most: 20}, {heading: "SPENT", right: true}, {heading: "LEFT", right: true}, {heading: "LIMIT", right: true, drop: 2},
		{heading: "USED", drop: 1}, {heading: "STATE"}}
	// The tightest come first: on a small screen there is no room for the others.
	budgets := slices.SortedStableFunc(slices.Values(s.Budgets), func(a, b overview.Budget) int { return cmp.Compare(used(b), used(a)) })
	var lines []line
	for _, b := range budgets {
		limit, left, part := "", "", ""
		if b.Limit != nil {
			limit, left, part = fmt.Sprintf("$%g/%s", *b.Limit, b.Window), dollars(*b.Left), bar(used(b))
		}
		spent := dollars(b.Spent)
		if b.Unknown > 0 {
			spent = "≥ " + spent
		}
		lines = append(lines, line{[]string{b.Name, spent, left, limit, part, budgetState(b, s.At)}, unlessGood(b.Style())})
	}
	return table(columns, columns/4, head, lines)
}

// limitTable is a line for each window of an account.
func limitTable(s *Snapshot, columns int) (heading string, rows []string) {
	head := []column{{heading: "LIMIT", most: 20}, {heading: "ACCOUNT", most: 34, drop: 2}, {heading: "USED"}, {heading: "RESETS", drop: 1}, {heading: "FORECAST"}}
	// The fullest come first: on a small screen there is no room for the others.
	limits := slices.SortedStableFunc(slices.Values(s.Limits), func(a, b overview.Limit) int { return cmp.Compare(b.Used, a.Used) })
	var lines []line
	for _, l := range limits {
		if columns > 0 && columns < 100 { // both ends tell accounts apart
			l.Account = printable.CutMiddle(l.Account, 14, "…")
		}
		lines = append(lines, line{[]string{l.Window, l.Account, bar(l.Used) + " " + l.Percent(), message.TimeOfDay(l.Resets.Time, s.At), l.Leads(s.At)}, unlessGood(l.Style())})
	}
	return table(columns, len("full at about 15:04"), head, lines)
}

// used is the part of a budget that is spent, 1 for all of it.
func used(b overview.Budget) float64 {
	switch {
	case b.Closed:
		return 1
	case b.Limit != nil:
		return b.Spent / *b.Limit
	}
	return 0
}

// unlessGood is how a line looks: what is as it should be does not stand out.
func unlessGood(s term.Style) term.Style {
	if s == term.Good {
		return term.Plain
	}
	return s
}

func budgetState(b overview.Budget, at time.Time) string {
	next := ""
	if b.Ends != nil {
		next = clock(b.Ends.Time, at)
	}
	switch {
	case b.Closed && next != "":
		return "closed until " + next
	case b.Closed:
		return "closed"
	case next != "":
		return "resets " + next
	}
	return "open"
}

// barWidth is how long a bar is, in characters.
const barWidth = 10

// bar is full to that part.
func bar(part float64) string {
	full := int(min(max(part, 0), 1)*barWidth + 0.5)
	if full == 0 && part > 0 { // a little must show
		full = 1
	}
	if full == barWidth && part < 1 { // and so must what is left
		full--
	}
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
}
