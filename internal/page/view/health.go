package view

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/record"
)

// Health is how reliable runs were.
type Health struct {
	Period
	Step         string               `json:"step"`
	Total        Reliability          `json:"total"`
	Steps        []Step               `json:"steps"`
	Classes      []ClassCount         `json:"classes"` // of attempts that failed, the most frequent first
	Profiles     []Reliability        `json:"profiles"`
	FirstTokens  []record.Percentiles `json:"first_tokens"`
	Integrations []Integration        `json:"integrations"`
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

func reliabilityOf(p record.Figures) Reliability {
	return Reliability{Key: p.Key, Runs: p.Invocations, Succeeded: p.Succeeded, Attempts: p.Attempts, Refused: p.Refused, WaitMS: p.WaitMS, ResponseMS: p.ResponseMS}
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
func (s *Source) Health(ctx context.Context, q url.Values) (v Health, err error) {
	f, p, err := s.filter(q, "7d")
	if err != nil {
		return v, err
	}
	step, start, err := s.steps(ctx, f)
	if err != nil {
		return v, err
	}
	v = Health{Period: p, Step: step, Steps: []Step{}, Classes: []ClassCount{}, Profiles: []Reliability{}, Integrations: []Integration{}}
	points, err := s.DB.Stats.Series(ctx, f, record.Reliability, start, record.ByClass, record.ByProfile)
	if err != nil {
		return v, err
	}
	v.addClasses(points)
	v.addProfiles(points)
	tokens, err := s.DB.Stats.FirstTokens(ctx, f, start)
	if err != nil {
		return v, err
	}
	v.FirstTokens = append([]record.Percentiles{}, tokens...)
	return v, s.addLast(ctx, &v, f)
}

// addClasses adds what there is by class and time, of points in the order of time.
func (v *Health) addClasses(points []record.Point) {
	var total record.Figures
	classes := map[string]int64{}
	for len(points) > 0 {
		var all record.Figures
		step := Step{At: points[0].At, Failed: []ClassCount{}}
		for ; len(points) > 0 && points[0].At.Equal(step.At); points = points[1:] {
			p := points[0]
			all.Add(p.Figures)
			if n := p.Attempts + p.Refused; p.Key != "ok" && n > 0 {
				if last := len(step.Failed) - 1; last >= 0 && step.Failed[last].Class == p.Key {
					step.Failed[last].N += n
				} else {
					step.Failed = append(step.Failed, ClassCount{p.Key, n})
				}
				classes[p.Key] += n
			}
		}
		if all.Invocations+all.Attempts+all.Refused == 0 { // only hooks and MCP servers
			continue
		}
		step.Reliability = reliabilityOf(all)
		v.Steps = append(v.Steps, step)
		total.Add(all)
	}
	v.Total = reliabilityOf(total)
	for class, n := range classes {
		v.Classes = append(v.Classes, ClassCount{class, n})
	}
	slices.SortFunc(v.Classes, func(a, b ClassCount) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Class, b.Class)) })
}

// addProfiles adds what there is by profile, and how often hooks and MCP servers have failed.
func (v *Health) addProfiles(points []record.Point) {
	profiles := map[string]*record.Figures{}
	for _, p := range points {
		if profiles[p.Second] == nil {
			profiles[p.Second] = &record.Figures{}
		}
		profiles[p.Second].Add(p.Figures)
	}
	for key, p := range profiles {
		p.Key = key
		if kind, _, ok := strings.Cut(key, ":"); ok && (kind == "mcp" || kind == "hook") {
			if p.Faults > 0 {
				v.Integrations = append(v.Integrations, Integration{Name: key, Kind: kind, Faults: p.Faults})
			}
			continue
		}
		v.Profiles = append(v.Profiles, reliabilityOf(*p))
	}
	slices.SortFunc(v.Profiles, func(a, b Reliability) int { return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Key, b.Key)) })
	slices.SortFunc(v.Integrations, func(a, b Integration) int {
		return cmp.Or(cmp.Compare(b.Faults, a.Faults), cmp.Compare(a.Name, b.Name))
	})
}

// addLast adds the last failure of each hook and MCP server.
func (s *Source) addLast(ctx context.Context, v *Health, f record.Filter) error {
	for i := range v.Integrations {
		n := &v.Integrations[i]
		events, err := s.DB.Trail.Events(ctx, record.Filter{Since: f.Since, Until: f.Until, Profile: n.Name, Limit: 1}, n.Kind)
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
