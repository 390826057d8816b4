package db

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Figures are what a group of runs adds up to.
type Figures struct {
	Key         string        `json:"key"`
	Invocations int64         `json:"invocations"` // that ended
	Succeeded   int64         `json:"succeeded"`
	Refused     int64         `json:"refused"` // not started at all
	Attempts    int64         `json:"attempts"`
	Requests    int64         `json:"requests"` // to the services, as far as the commands report them
	Faults      int64         `json:"faults"`   // of hooks and MCP servers
	WaitMS      int64         `json:"wait_ms"`
	ResponseMS  int64         `json:"response_ms"`
	Usage       verdict.Usage `json:"usage"` // the cost is what is known of that of the attempts
	// UnknownCosts is how many attempts have a cost that is not known, or not all of it, UnknownUsage how many have used more
	// than they have reported, and EstimatedCosts how many have an estimated cost.
	UnknownCosts   int64 `json:"unknown_costs"`
	UnknownUsage   int64 `json:"unknown_usage"`
	EstimatedCosts int64 `json:"estimated_costs"`
}

// Rate is the part that succeeded, from 0 to 1; 0 if there were none.
func (f Figures) Rate() float64 {
	if f.Invocations == 0 {
		return 0
	}
	return float64(f.Succeeded) / float64(f.Invocations)
}

func (f *Figures) add(g Figures) {
	f.Invocations += g.Invocations
	f.Succeeded += g.Succeeded
	f.Refused += g.Refused
	f.Attempts += g.Attempts
	f.Requests += g.Requests
	f.Faults += g.Faults
	f.WaitMS += g.WaitMS
	f.ResponseMS += g.ResponseMS
	cost := addCost(f.Usage.CostUSD, g.Usage.CostUSD)
	f.Usage.CostUSD, g.Usage.CostUSD = nil, nil
	f.Usage = f.Usage.Add(g.Usage)
	f.EstimatedCosts += g.EstimatedCosts
	f.Usage.CostUSD, f.Usage.Estimated = cost, f.EstimatedCosts > 0
	f.UnknownCosts += g.UnknownCosts
	f.UnknownUsage += g.UnknownUsage
}

// Group is what statistics are grouped by.
type Group string

const (
	ByDay     Group = "day" // in the zone of the times that were asked for
	ByProfile Group = "profile"
	ByModel   Group = "model"
	ByClass   Group = "class"
	ByName    Group = "name" // a label, as are those that begin with "tag."
	ByProject Group = "project"
	ByMachine Group = "machine" // in the record of a fleet
)

// Groups are all of them but those by a tag.
var Groups = []Group{ByDay, ByProfile, ByModel, ByClass, ByName, ByProject, ByMachine}

// tallied takes the figures of a part of what is added up. Where that is by a label, the label stands in the place of the
// profile.
type tallied func(at int64, profile, model, class string, g Figures)

// Stats adds up what the filter lets through, by group, and in all. Attempts count at the time they ended, and so do the
// tokens they used; an invocation counts where its last attempt does.
func (d *DB) Stats(ctx context.Context, f Filter, by Group, zone *time.Location) (groups []Figures, total Figures, err error) {
	sums := map[string]*Figures{}
	add := func(at int64, profile, model, class string, g Figures) {
		key := ""
		switch by {
		case ByDay:
			key = moment(at).In(zone).Format(time.DateOnly)
		case ByModel:
			key = model
		case ByClass:
			key = class
		default:
			key = profile
		}
		if sums[key] == nil {
			sums[key] = &Figures{Key: key}
		}
		sums[key].add(g)
		total.add(g)
	}
	if err := d.tallies(ctx, f, by, add); err != nil {
		return nil, total, err
	}
	for _, s := range sums {
		s.UnknownCosts = max(s.UnknownCosts, 0) // that of another group may have been settled here
		groups = append(groups, *s)
	}
	total.UnknownCosts = max(total.UnknownCosts, 0)
	slices.SortFunc(groups, func(a, b Figures) int {
		if by != ByDay {
			if c := cmp.Or(cmp.Compare(b.Invocations, a.Invocations), cmp.Compare(b.Faults, a.Faults)); c != 0 {
				return c
			}
		}
		return cmp.Compare(a.Key, b.Key)
	})
	return groups, total, nil
}

// tallies takes whole quarters of an hour from the rollup, and what is left of the first and the last one from the rows
// that were summed up there.
func (d *DB) tallies(ctx context.Context, f Filter, by Group, add tallied) error {
	if by.label("") != "" {
		return d.tallyLabels(ctx, f, by, add)
	}
	since, until := int64(0), int64(1)<<60
	if !f.Since.IsZero() {
		since = f.Since.UnixMilli()
	}
	if !f.Until.IsZero() {
		until = f.Until.UnixMilli()
	}
	first, last := -floorDiv(-since, quarter), floorDiv(until, quarter) // whole ones: from first up to last
	if first > last || f.labelled() {
		return d.tallyRows(ctx, f, since, until, add)
	}
	if since < first*quarter {
		if err := d.tallyRows(ctx, f, since, first*quarter, add); err != nil {
			return err
		}
	}
	if err := d.tallyRollup(ctx, f, by, first, last, add); err != nil {
		return err
	}
	if until > last*quarter {
		return d.tallyRows(ctx, f, last*quarter, until, add)
	}
	return nil
}

// tallyRollup adds up in SQL as far as the groups allow: only for days a quarter matters.
func (d *DB) tallyRollup(ctx context.Context, f Filter, by Group, first, last int64, add tallied) error {
	w := &where{}
	w.and("quarter >= ? AND quarter < ?", first, last)
	narrow(w, f, "profile", "class")
	group := "profile, model, class"
	if by == ByDay {
		group = "quarter"
	}
	query := fmt.Sprintf(`SELECT min(quarter) * %d, profile, model, class, sum(ended), sum(succeeded), sum(refused), sum(attempts), sum(wait_ms),
		sum(response_ms), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_creation_tokens), sum(cost_usd),
		sum(requests), sum(faults), sum(unknown_costs), sum(unknown_usage), sum(estimated_costs) FROM rollup%s GROUP BY %s`, quarter, w, group)
	return d.tally(ctx, query, w.args, add)
}

// tallyRows is for times that are not whole quarters.
func (d *DB) tallyRows(ctx context.Context, f Filter, since, until int64, add tallied) error {
	if err := d.tallyAttempts(ctx, f, since, until, add); err != nil {
		return err
	}
	return d.tallyFaults(ctx, f, since, until, add)
}

func (d *DB) tallyAttempts(ctx context.Context, f Filter, since, until int64, add tallied) error {
	w := &where{}
	w.and("a.timestamp >= ? AND a.timestamp < ?", since, until)
	f.labels(w, "i.")
	narrow(w, f, "coalesce(a.profile, i.profile)", "a.class")
	query := fmt.Sprintf(`SELECT a.timestamp, coalesce(a.profile, i.profile), coalesce(a.model, ''), a.class, a.status <> 'retry', a.status = 'success', a.attempt = 0,
		a.attempt > 0, a.wait_ms + a.gate_wait_ms, a.response_ms, a.input_tokens, a.output_tokens, a.cache_read_tokens,
		a.cache_creation_tokens, a.cost_usd, a.requests, 0, a.unknown_costs, a.unknown_usage, a.estimated_costs FROM attempts a JOIN invocations i ON i.id = a.invocation%s`, w)
	return d.tally(ctx, query, w.args, add)
}

// tallyFaults counts the failures of hooks and MCP servers.
func (d *DB) tallyFaults(ctx context.Context, f Filter, since, until int64, add tallied) error {
	w := &where{}
	w.and("timestamp >= ? AND timestamp < ? AND "+faulty, since, until)
	f.eventLabels(w)
	narrow(w, f, "json_extract(metadata, '$.integration')", "json_extract(metadata, '$.error_type')")
	query := `SELECT timestamp, json_extract(metadata, '$.integration'), '', json_extract(metadata, '$.error_type'), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 1, 0, 0, 0
		FROM events` + w.String()
	return d.tally(ctx, query, w.args, add)
}

func narrow(w *where, f Filter, profile, class string) {
	if f.Profile != "" {
		w.and(profile+" = ?", f.Profile)
	}
	switch f.Class {
	case "":
	case Failed:
		w.and(class + " <> 'ok'")
	default:
		w.and(class+" = ?", f.Class)
	}
}

func (d *DB) tally(ctx context.Context, query string, args []any, add tallied) error {
	type row struct {
		at                    int64
		profile, model, class string
		Figures
	}
	list, err := collect(ctx, d, query, args, func(found *sql.Rows) (g row, err error) {
		var cost sql.NullFloat64
		u := &g.Usage
		err = found.Scan(&g.at, &g.profile, &g.model, &g.class, &g.Invocations, &g.Succeeded, &g.Refused, &g.Attempts, &g.WaitMS, &g.ResponseMS,
			&u.InputTokens, &u.OutputTokens, &u.CacheReadInputTokens, &u.CacheCreationInputTokens, &cost, &g.Requests,
			&g.Faults, &g.UnknownCosts, &g.UnknownUsage, &g.EstimatedCosts)
		u.CostUSD, u.Unknown = costOf(cost), g.UnknownUsage > 0
		return g, err
	})
	for _, g := range list {
		add(g.at, g.profile, g.model, g.class, g.Figures)
	}
	return err
}
