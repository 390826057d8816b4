package record

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/record/database"
)

// Stats are questions about what runs add up to.
type Stats struct{ db *database.DB }

// tallied takes the figures of a part of what is added up. Where that is by a label, the label stands in the place of the
// profile.
type tallied func(at int64, profile, model, class string, g Figures)

// Groups adds up what the filter lets through, by group, and in all. Attempts count at the time they ended, and so do the
// tokens they used; an invocation counts where its last attempt does.
func (s Stats) Groups(ctx context.Context, f Filter, by Group, zone *time.Location) (groups []Figures, total Figures, err error) {
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
		sums[key].Add(g)
		total.Add(g)
	}
	if err := s.tallies(ctx, f, by, add); err != nil {
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
func (s Stats) tallies(ctx context.Context, f Filter, by Group, add tallied) error {
	if by.label("") != "" {
		return s.tallyLabels(ctx, f, by, add)
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
		return s.tallyRows(ctx, f, since, until, add)
	}
	if since < first*quarter {
		if err := s.tallyRows(ctx, f, since, first*quarter, add); err != nil {
			return err
		}
	}
	if err := s.tallyRollup(ctx, f, by, first, last, add); err != nil {
		return err
	}
	if until > last*quarter {
		return s.tallyRows(ctx, f, last*quarter, until, add)
	}
	return nil
}

// tallyRollup adds up in SQL as far as the groups allow: only for days a quarter matters.
func (s Stats) tallyRollup(ctx context.Context, f Filter, by Group, first, last int64, add tallied) error {
	w := &where{}
	w.and("quarter >= ? AND quarter < ?", first, last)
	narrow(w, f, "profile", "class")
	group := "profile, model, class"
	if by == ByDay {
		group = "quarter"
	}
	query := fmt.Sprintf("SELECT min(quarter) * %d, profile, model, class%s FROM rollup%s GROUP BY %s", quarter, kept(inRollups).rollupSums(), w, group)
	return s.tally(ctx, query, w.args, kept(inRollups), add)
}

// tallyRows is for times that are not whole quarters.
func (s Stats) tallyRows(ctx context.Context, f Filter, since, until int64, add tallied) error {
	if err := s.tallyAttempts(ctx, f, since, until, add); err != nil {
		return err
	}
	return s.tallyFaults(ctx, f, since, until, add)
}

func (s Stats) tallyAttempts(ctx context.Context, f Filter, since, until int64, add tallied) error {
	w := &where{}
	w.and("a.timestamp >= ? AND a.timestamp < ?", since, until)
	f.labels(w, "i.")
	narrow(w, f, "coalesce(a.profile, i.profile)", "a.class")
	query := fmt.Sprintf(`SELECT a.timestamp, coalesce(a.profile, i.profile), coalesce(a.model, ''), a.class%s
		FROM attempts a JOIN invocations i ON i.id = a.invocation%s`, kept(inRollups).rows(), w)
	return s.tally(ctx, query, w.args, kept(inRollups), add)
}

// tallyFaults counts the failures of hooks and MCP servers.
func (s Stats) tallyFaults(ctx context.Context, f Filter, since, until int64, add tallied) error {
	w := &where{}
	w.and("timestamp >= ? AND timestamp < ? AND "+faulty, since, until)
	f.eventLabels(w)
	narrow(w, f, "json_extract(metadata, '$.integration')", "json_extract(metadata, '$.error_type')")
	query := "SELECT timestamp, json_extract(metadata, '$.integration'), '', json_extract(metadata, '$.error_type'), 1 FROM events" + w.String()
	return s.tally(ctx, query, w.args, onlyFaults(), add)
}

// onlyFaults is what the failures of hooks and MCP servers add to.
func onlyFaults() figureList { return some(func(f *Figure) bool { return f.column == "faults" }) }

// tally adds what a query has found: a time, the keys, and the figures of the list.
func (s Stats) tally(ctx context.Context, query string, args []any, list figureList, add tallied) error {
	type row struct {
		at                    int64
		profile, model, class string
		Figures
	}
	found, err := database.Collect(ctx, s.db, query, args, func(found *sql.Rows) (g row, err error) {
		err = found.Scan(list.at([]any{&g.at, &g.profile, &g.model, &g.class}, &g.Figures)...)
		return g, err
	})
	for _, g := range found {
		add(g.at, g.profile, g.model, g.class, g.Figures)
	}
	return err
}

// tallyLabels adds up by a label. The rollup has none, so it is all rows of the time that are added up.
func (s Stats) tallyLabels(ctx context.Context, f Filter, by Group, add tallied) error {
	w := &where{}
	w.times("a.timestamp", f)
	f.labels(w, "i.")
	narrow(w, f, "coalesce(a.profile, i.profile)", "a.class")
	query := "SELECT max(a.timestamp), coalesce(" + by.label("i.") + ", ''), '', ''" + kept(inRollups).rowSums() +
		" FROM attempts a JOIN invocations i ON i.id = a.invocation" + w.String() + " GROUP BY 2"
	if err := s.tally(ctx, query, w.args, kept(inRollups), add); err != nil {
		return err
	}
	w = &where{}
	w.times("timestamp", f)
	w.and(faulty)
	f.eventLabels(w)
	narrow(w, f, "json_extract(metadata, '$.integration')", "json_extract(metadata, '$.error_type')")
	query = "SELECT max(timestamp), coalesce(" + by.labelOfEvent() + ", ''), '', '', count(*) FROM events" + w.String() + " GROUP BY 2"
	return s.tally(ctx, query, w.args, onlyFaults(), add)
}
