package view

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/companion/db"
)

// Health is how reliable runs were.
type Health struct {
	Period
	Step         string        `json:"step"`
	Total        Reliability   `json:"total"`
	Steps        []Step        `json:"steps"`
	Classes      []ClassCount  `json:"classes"` // of attempts that failed, the most frequent first
	Profiles     []Reliability `json:"profiles"`
	FirstTokens  []FirstToken  `json:"first_tokens"`
	Integrations []Integration `json:"integrations"`
}

// Reliability is how the runs of a profile have ended, or all of them.
type Reliability struct {
	Key        string `json:"key"`
	Runs       int64  `json:"runs"`
	Succeeded  int64  `json:"succeeded"`
	Attempts   int64  `json:"attempts"`
	Refused    int64  `json:"refused"`
	WaitMS     int64  `json:"wait_ms"`
	ResponseMS int64  `json:"response_ms"`
}

func (r *Reliability) add(p db.Point) {
	r.Runs += p.Invocations
	r.Succeeded += p.Succeeded
	r.Attempts += p.Attempts
	r.Refused += p.Refused
	r.WaitMS += p.WaitMS
	r.ResponseMS += p.ResponseMS
}

// Step is a step of time, with how many attempts have failed by class.
type Step struct {
	At time.Time `json:"at"`
	Reliability
	Failed []ClassCount `json:"failed"`
}

// ClassCount is how many attempts were of a class.
type ClassCount struct {
	Class string `json:"class"`
	N     int64  `json:"n"`
}

// FirstToken is how long the first token took, in milliseconds.
type FirstToken struct {
	At  time.Time `json:"at"`
	N   int64     `json:"n"`
	P50 float64   `json:"p50_ms"`
	P90 float64   `json:"p90_ms"`
}

// Integration is an MCP server or a hook, and how often it has failed.
type Integration struct {
	Name   string    `json:"name"`
	Kind   string    `json:"kind"` // mcp or hook
	Faults int64     `json:"faults"`
	Last   time.Time `json:"last,omitzero"`
	Error  string    `json:"error,omitempty"`
	Class  string    `json:"class,omitempty"`
}

// Health returns that of the last 7 days, or as the address says.
func (s *Source) Health(ctx context.Context, q url.Values) (any, error) {
	f, p, err := s.filter(q, "7d")
	if err != nil {
		return nil, err
	}
	first, err := s.DB.First(ctx)
	if err != nil {
		return nil, err
	}
	step, start := s.steps(f, first)
	v := Health{Period: p, Step: step, Steps: []Step{}, Classes: []ClassCount{}, Profiles: []Reliability{}, FirstTokens: []FirstToken{}, Integrations: []Integration{}}
	if err := s.addClasses(ctx, &v, f, start); err != nil {
		return nil, err
	}
	if err := s.addProfiles(ctx, &v, f); err != nil {
		return nil, err
	}
	tokens, err := s.DB.FirstTokens(ctx, f, start)
	if err != nil {
		return nil, err
	}
	for _, t := range tokens {
		v.FirstTokens = append(v.FirstTokens, FirstToken{t.At, t.N, t.P50, t.P90})
	}
	return v, s.addLast(ctx, &v, f)
}

// addClasses adds what there is by class and time.
func (s *Source) addClasses(ctx context.Context, v *Health, f db.Filter, start func(time.Time) time.Time) error {
	points, err := s.DB.Series(ctx, f, db.ByClass, start)
	if err != nil {
		return err
	}
	classes := map[string]int64{}
	for _, p := range points {
		if p.Attempts+p.Refused == 0 {
			continue
		}
		if n := len(v.Steps); n == 0 || !v.Steps[n-1].At.Equal(p.At) {
			v.Steps = append(v.Steps, Step{At: p.At, Failed: []ClassCount{}})
		}
		now := &v.Steps[len(v.Steps)-1]
		now.add(p)
		v.Total.add(p)
		if p.Key != "ok" {
			now.Failed = append(now.Failed, ClassCount{p.Key, p.Attempts + p.Refused})
			classes[p.Key] += p.Attempts + p.Refused
		}
	}
	for class, n := range classes {
		v.Classes = append(v.Classes, ClassCount{class, n})
	}
	slices.SortFunc(v.Classes, func(a, b ClassCount) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Class, b.Class)) })
	return nil
}

// addProfiles adds what there is by profile, and how often hooks and MCP servers have failed.
func (s *Source) addProfiles(ctx context.Context, v *Health, f db.Filter) error {
	points, err := s.DB.Series(ctx, f, db.ByProfile, func(time.Time) time.Time { return time.Time{} })
	if err != nil {
		return err
	}
	for _, p := range points {
		if kind, _, ok := strings.Cut(p.Key, ":"); ok && (kind == "mcp" || kind == "hook") {
			if p.Faults > 0 {
				v.Integrations = append(v.Integrations, Integration{Name: p.Key, Kind: kind, Faults: p.Faults})
			}
			continue
		}
		r := Reliability{Key: p.Key}
		r.add(p)
		v.Profiles = append(v.Profiles, r)
	}
	slices.SortFunc(v.Profiles, func(a, b Reliability) int { return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Key, b.Key)) })
	slices.SortFunc(v.Integrations, func(a, b Integration) int {
		return cmp.Or(cmp.Compare(b.Faults, a.Faults), cmp.Compare(a.Name, b.Name))
	})
	return nil
}

// addLast adds the last failure of each hook and MCP server.
func (s *Source) addLast(ctx context.Context, v *Health, f db.Filter) error {
	for i := range v.Integrations {
		n := &v.Integrations[i]
		events, err := s.DB.Events(ctx, db.Filter{Since: f.Since, Until: f.Until, Profile: n.Name, Limit: 1}, n.Kind)
		if err != nil {
			return err
		}
		for _, e := range events {
			var data struct {
				Error string `json:"error"`
				Class string `json:"error_type"`
			}
			json.Unmarshal(e.Metadata, &data) // what cannot be read is not told
			n.Last, n.Error, n.Class = e.Timestamp, data.Error, data.Class
		}
	}
	return nil
}
