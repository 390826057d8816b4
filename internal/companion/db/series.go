package db

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"time"
)

// Point is what a group of runs adds up to in a part of the time that was asked for.
type Point struct {
	At time.Time
	Figures
	// Lost is what is known of the cost of attempts that failed.
	Lost float64
}

// Series adds up what the filter lets through by group and by steps of time, of which start says when the one begins that a time is in. It
// knows whole quarters of an hour: Since is rounded down to one, Until up. Points are ordered by time.
func (d *DB) Series(ctx context.Context, f Filter, by Group, start func(time.Time) time.Time) ([]Point, error) {
	table, key, w := f.rollup(by)
	if table == "" {
		return d.seriesOfRows(ctx, f, by, start)
	}
	narrow(w, f, "profile", "class")
	query := "SELECT quarter, " + key + `, sum(ended), sum(succeeded), sum(refused), sum(attempts), sum(wait_ms), sum(response_ms), sum(input_tokens), sum(output_tokens),
		sum(cache_read_tokens), sum(cache_creation_tokens), sum(cost_usd), sum(requests), sum(faults), sum(unknown_costs), sum(unknown_usage), sum(estimated_costs),
		coalesce(sum(iif(class <> 'ok', cost_usd, 0)), 0) FROM ` + table + w.String() + " GROUP BY 1, 2 ORDER BY 1"
	return d.points(ctx, query, w.args, start)
}

// rollup is the table with the sums that a question needs, with the column of its groups and what narrows it to the labels and times; empty if
// none has them.
func (f Filter) rollup(by Group) (table, key string, w *where) {
	w = &where{}
	labels := f.labelList()
	key = map[Group]string{ByProfile: "profile", ByModel: "model", ByClass: "class"}[by]
	if key == "" {
		key = "''"
	}
	grouped := by.label("") != ""
	switch {
	case len(labels) == 0 && !grouped:
		table = "rollup"
	case len(labels) == 1 && !grouped:
		table = "label_rollup"
		w.and("label = ? AND value = ?", labels[0][0], labels[0][1])
	case len(labels) == 0:
		table, key = "label_rollup", "value"
		w.and("label = ?", string(by))
	default:
		return "", "", nil
	}
	w.quarters("quarter", f)
	return table, key, w
}

// labelList is what runs have to be labelled with.
func (f Filter) labelList() (list [][2]string) {
	if f.Name != "" {
		list = append(list, [2]string{labelName, f.Name})
	}
	if f.Project != "" {
		list = append(list, [2]string{labelProject, f.Project})
	}
	for key, value := range f.Tags {
		list = append(list, [2]string{tagPrefix + key, value})
	}
	slices.SortFunc(list, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	return list
}

// quarters narrows by a column that holds quarters.
func (w *where) quarters(column string, f Filter) {
	if !f.Since.IsZero() {
		w.and(column+" >= ?", floorDiv(f.Since.UnixMilli(), quarter))
	}
	if !f.Until.IsZero() {
		w.and(column+" < ?", -floorDiv(-f.Until.UnixMilli(), quarter))
	}
}

// seriesOfRows is Series for what no sums are kept of: several labels at once.
func (d *DB) seriesOfRows(ctx context.Context, f Filter, by Group, start func(time.Time) time.Time) ([]Point, error) {
	w := &where{}
	w.times("a.timestamp", f)
	f.labels(w, "i.")
	narrow(w, f, "coalesce(a.profile, i.profile)", "a.class")
	key := map[Group]string{ByProfile: "coalesce(a.profile, i.profile)", ByModel: "coalesce(a.model, '')", ByClass: "a.class"}[by]
	if label := by.label("i."); label != "" {
		key = "coalesce(" + label + ", '')"
	} else if key == "" {
		key = "''"
	}
	query := fmt.Sprintf(`SELECT a.timestamp / %d, %s, sum(a.status <> 'retry'), sum(a.status = 'success'), sum(a.attempt = 0), sum(a.attempt > 0), sum(a.wait_ms + a.gate_wait_ms),
		sum(a.response_ms), sum(a.input_tokens), sum(a.output_tokens), sum(a.cache_read_tokens), sum(a.cache_creation_tokens), sum(a.cost_usd), sum(a.requests), 0,
		sum(a.unknown_costs), sum(a.unknown_usage), sum(a.estimated_costs), coalesce(sum(iif(a.class <> 'ok', a.cost_usd, 0)), 0)
		FROM attempts a JOIN invocations i ON i.id = a.invocation%s GROUP BY 1, 2 ORDER BY 1`, quarter, key, w)
	return d.points(ctx, query, w.args, start)
}

// points runs a query of sums by quarter, and adds up those of a step.
func (d *DB) points(ctx context.Context, query string, args []any, start func(time.Time) time.Time) (list []Point, err error) {
	found, err := d.sql.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	type place struct {
		at  int64
		key string
	}
	index := map[place]int{}
	for found.Next() {
		var at int64
		var p Point
		var cost sql.NullFloat64
		u := &p.Usage
		if err := found.Scan(&at, &p.Key, &p.Invocations, &p.Succeeded, &p.Refused, &p.Attempts, &p.WaitMS, &p.ResponseMS, &u.InputTokens, &u.OutputTokens,
			&u.CacheReadInputTokens, &u.CacheCreationInputTokens, &cost, &p.Requests, &p.Faults, &p.UnknownCosts, &p.UnknownUsage, &p.EstimatedCosts, &p.Lost); err != nil {
			return nil, err
		}
		u.CostUSD = costOf(cost)
		p.At = start(moment(at * quarter))
		k := place{p.At.UnixMilli(), p.Key}
		i, ok := index[k]
		if !ok {
			i = len(list)
			index[k] = i
			list = append(list, Point{At: p.At, Figures: Figures{Key: p.Key}})
		}
		list[i].add(p.Figures)
		list[i].Lost += p.Lost
	}
	return list, found.Err()
}

// bucketOf is the bucket of a time to the first token, in milliseconds.
func bucketOf(ms int64) int {
	return int(math.Round(math.Log(float64(max(ms, 1))) / math.Log(firstTokenBase)))
}

// Percentiles of times to the first token in a step of time, in milliseconds.
type Percentiles struct {
	At       time.Time
	N        int64
	P50, P90 float64
}

// FirstTokens returns how long the first token took, in steps of time. Labels are not known here, and what the filter says of them is not looked at.
func (d *DB) FirstTokens(ctx context.Context, f Filter, start func(time.Time) time.Time) (list []Percentiles, err error) {
	w := &where{}
	w.quarters("quarter", f)
	if f.Profile != "" {
		w.and("profile = ?", f.Profile)
	}
	found, err := d.sql.QueryContext(ctx, "SELECT quarter, bucket, sum(n) FROM first_tokens"+w.String()+" GROUP BY 1, 2 ORDER BY 1", w.args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var counts map[int]int64
	for found.Next() {
		var at, n int64
		var bucket int
		if err := found.Scan(&at, &bucket, &n); err != nil {
			return nil, err
		}
		step := start(moment(at * quarter))
		if len(list) == 0 || !list[len(list)-1].At.Equal(step) {
			if len(list) > 0 {
				list[len(list)-1].of(counts)
			}
			list, counts = append(list, Percentiles{At: step}), map[int]int64{}
		}
		counts[bucket] += n
	}
	if len(list) > 0 {
		list[len(list)-1].of(counts)
	}
	return list, found.Err()
}

// of takes percentiles from counts.
func (p *Percentiles) of(counts map[int]int64) {
	var buckets []int
	for b, n := range counts {
		buckets = append(buckets, b)
		p.N += n
	}
	slices.Sort(buckets)
	at := func(share float64) float64 {
		seen := int64(0)
		for _, b := range buckets {
			if seen += counts[b]; float64(seen) >= share*float64(p.N) {
				return math.Pow(firstTokenBase, float64(b))
			}
		}
		return 0
	}
	p.P50, p.P90 = at(0.5), at(0.9)
}

// Values are those that runs on record have as a label, or as their profile, in their order; at most so many.
func (d *DB) Values(ctx context.Context, of Group, limit int) (list []string, err error) {
	// Each step looks for the next value, instead of reading all rows of one.
	query := `WITH RECURSIVE v(x) AS (SELECT min(value) FROM label_rollup WHERE label = ?1 UNION ALL
		SELECT (SELECT min(value) FROM label_rollup WHERE label = ?1 AND value > x) FROM v WHERE x IS NOT NULL) SELECT x FROM v WHERE x IS NOT NULL LIMIT ?2`
	if of == ByProfile {
		query = "SELECT DISTINCT profile FROM rollup WHERE attempts + refused > 0 AND ?1 = ?1 ORDER BY 1 LIMIT ?2"
	}
	return texts(ctx, d, query, string(of), limit)
}

// TagKeys are the keys of the tags that runs on record have.
func (d *DB) TagKeys(ctx context.Context, limit int) ([]string, error) {
	return texts(ctx, d, `WITH RECURSIVE v(x) AS (SELECT min(label) FROM label_rollup WHERE label > 'tag.' AND label < 'tag/' UNION ALL
		SELECT (SELECT min(label) FROM label_rollup WHERE label > x AND label < 'tag/') FROM v WHERE x IS NOT NULL) SELECT substr(x, 5) FROM v WHERE x IS NOT NULL LIMIT ?`, limit)
}

func texts(ctx context.Context, d *DB, query string, args ...any) (list []string, err error) {
	found, err := d.sql.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var text string
		if err := found.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, found.Err()
}
