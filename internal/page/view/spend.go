package view

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/record"
)

// Sum is what some runs have used.
type Sum struct {
	Key       string   `json:"key"`
	Cost      *float64 `json:"cost_usd"` // what is known of it; null if nothing is
	Lost      float64  `json:"lost_usd"` // of that, by attempts that failed
	Estimated int64    `json:"estimated_costs"`
	Unknown   int64    `json:"unknown_costs"` // attempts
	Input     int64    `json:"input_tokens"`
	Output    int64    `json:"output_tokens"`
	CacheRead int64    `json:"cache_read_tokens"`
	CacheMade int64    `json:"cache_creation_tokens"`
	Runs      int64    `json:"runs"`
	figures   record.Figures
}

// MarshalJSON implements [json.Marshaler]: behind the fields stand the figures that have a column of their own.
func (s Sum) MarshalJSON() ([]byte, error) {
	type plain Sum
	data, err := json.Marshal(plain(s))
	if err != nil {
		return nil, err
	}
	data = data[:len(data)-1]
	for _, f := range record.OnPage(s.figures) {
		n, _ := f.Count(s.figures)
		data = fmt.Appendf(data, ",%q:%d", f.Name(), n)
	}
	return append(data, '}'), nil
}

func sumOf(p record.Figures) Sum {
	u := p.Usage
	return Sum{Key: p.Key, Cost: u.CostUSD, Lost: p.Lost, Estimated: p.EstimatedCosts, Unknown: p.UnknownCosts, Input: u.InputTokens, Output: u.OutputTokens,
		CacheRead: u.CacheReadInputTokens, CacheMade: u.CacheCreationInputTokens, Runs: p.Invocations, figures: p}
}

// Bucket is a step of time, with the sums of each group in it.
type Bucket struct {
	At   time.Time `json:"at"`
	Sums []Sum     `json:"sums"`
}

// Spend is what was used, over time and by group.
type Spend struct {
	Period
	By      string            `json:"by"`
	Step    string            `json:"step"` // hour, day or month
	Total   Sum               `json:"total"`
	Groups  []Sum             `json:"groups"` // the most expensive first
	Columns []Column          `json:"columns"`
	Buckets []Bucket          `json:"buckets"`
	Budgets []overview.Budget `json:"budgets"`
}

// Column is a figure with a column of its own: its name in a [Sum], and its heading.
type Column struct {
	Name    string `json:"name"`
	Heading string `json:"heading"`
}

// steps of time, by how long the period is.
func (s *Source) steps(ctx context.Context, f record.Filter) (name string, start func(time.Time) time.Time, err error) {
	from, to := f.Since, f.Until
	if from.IsZero() {
		from, err = s.DB.Stats.First(ctx)
	}
	if to.IsZero() {
		to = time.Now()
	}
	name = "month"
	switch length := to.Sub(from); {
	case length <= 3*24*time.Hour:
		name = "hour"
	case length <= 200*24*time.Hour:
		name = "day"
	}
	return name, func(t time.Time) time.Time {
		t = t.Local()
		day, hour := 1, 0
		if name != "month" {
			day = t.Day()
		}
		if name == "hour" {
			hour = t.Hour()
		}
		return time.Date(t.Year(), t.Month(), day, hour, 0, 0, 0, time.Local)
	}, err
}

// Spend returns what was used in the last 30 days, or as the address says, by model, or what else it says.
func (s *Source) Spend(ctx context.Context, q url.Values) (v Spend, err error) {
	f, p, err := s.filter(q, "30d")
	if err != nil {
		return v, err
	}
	by, err := record.ParseGroup(cmp.Or(q.Get("by"), string(record.ByModel)))
	if err != nil {
		return v, &Unclear{err}
	}
	step, start, err := s.steps(ctx, f)
	if err != nil {
		return v, err
	}
	points, err := s.DB.Stats.Series(ctx, f, record.Spending, start, by)
	if err != nil {
		return v, err
	}
	v = Spend{Period: p, By: string(by), Step: step, Groups: []Sum{}, Buckets: []Bucket{}, Budgets: []overview.Budget{}}
	var total record.Figures
	groups := map[string]*record.Figures{}
	for _, point := range points {
		if point.Attempts == 0 && point.Usage.CostUSD == nil { // hooks and MCP servers
			continue
		}
		if n := len(v.Buckets); n == 0 || !v.Buckets[n-1].At.Equal(point.At) {
			v.Buckets = append(v.Buckets, Bucket{At: point.At})
		}
		b := &v.Buckets[len(v.Buckets)-1]
		b.Sums = append(b.Sums, sumOf(point.Figures))
		if groups[point.Key] == nil {
			groups[point.Key] = &record.Figures{Key: point.Key}
		}
		groups[point.Key].Add(point.Figures)
		total.Add(point.Figures)
	}
	v.Total = sumOf(total)
	for _, f := range record.OnPage(total) {
		v.Columns = append(v.Columns, Column{f.Name(), f.Page})
	}
	for _, g := range groups {
		v.Groups = append(v.Groups, sumOf(*g))
	}
	slices.SortFunc(v.Groups, func(a, b Sum) int {
		return cmp.Or(cmp.Compare(value(b.Cost), value(a.Cost)), cmp.Compare(b.Input+b.Output, a.Input+a.Output), cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Key, b.Key))
	})
	if budgets, err := s.Budgets(); err == nil && !s.DB.OfFleet() { // they are those of this machine
		v.Budgets = budgets
	}
	return v, nil
}

func value(c *float64) float64 {
	if c == nil {
		return 0
	}
	return *c
}
