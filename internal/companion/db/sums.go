package db

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
)

// quarter is the length of a rollup's time, in milliseconds.
const quarter = 15 * 60 * 1000

// Time to the first token is kept as counts by size: a bucket is 9 % wider than the one before, so that a percentile is known to less than 5 %.
const firstTokenBase = 1.0905077326652577 // 2^(1/8)

// summed is a table with sums of what lines have in common.
type summed struct {
	rows
	// of calls add with what a line adds, and to which row.
	of func(l *line, add func(f Figures, key ...any))
}

// summedTables are all of them. Names, projects and tags are labels; a run with several of them counts in each.
var summedTables = []summed{
	{rows{table: "rollup", key: "quarter, profile, model, class", columns: "quarter, profile, model, class", figures: inRollups}, func(l *line, add func(Figures, ...any)) {
		add(l.figures(), l.quarter(), l.Profile, l.Model, classOf(&l.Entry))
	}},
	{rows{table: "label_rollup", key: "label, value, quarter, profile, model, class", columns: "label, value, quarter, profile, model, class", figures: inRollups}, func(l *line, add func(Figures, ...any)) {
		for _, label := range l.labels() {
			add(l.figures(), label[0], label[1], l.quarter(), l.Profile, l.Model, classOf(&l.Entry))
		}
	}},
	{rows{table: "meters", key: "profile, model, class", columns: "profile, model, class", figures: inMeters}, func(l *line, add func(Figures, ...any)) {
		f := l.figures()
		f.Usage.CostUSD = new(f.Cost()) // one that is not known adds nothing
		add(f, l.Profile, l.Model, classOf(&l.Entry))
	}},
	{rows{table: "spreads", key: "name, profile, model, class, bucket", columns: "name, profile, model, class, bucket", figures: inSpreads}, func(l *line, add func(Figures, ...any)) {
		l.eachSize(func(name string, bucket int) {
			add(Figures{sizes: 1}, name, l.Profile, l.Model, classOf(&l.Entry), int64(bucket))
		})
	}},
	{rows{table: "first_tokens", key: "quarter, profile, bucket", columns: "quarter, profile, bucket", figures: inFirstTokens}, func(l *line, add func(Figures, ...any)) {
		if first := ms(l.FirstToken); first > 0 && l.Kind == "" {
			add(Figures{firstTokens: 1}, l.quarter(), l.Profile, int64(bucketOf(first)))
		}
	}},
}

func (l *line) quarter() int64 { return floorDiv(l.Timestamp.UnixMilli(), quarter) }

// addUp adds lines to all sums.
func addUp(ctx context.Context, conn *sql.Conn, lines []line) error {
	for _, t := range summedTables {
		if err := t.add(ctx, conn, lines); err != nil {
			return err
		}
	}
	return nil
}

func (t summed) add(ctx context.Context, conn *sql.Conn, lines []line) error {
	sums := map[sumKey]*Figures{}
	for i := range lines {
		t.of(&lines[i], func(f Figures, columns ...any) {
			var k sumKey
			copy(k[:], columns)
			if sums[k] == nil {
				sums[k] = &Figures{}
			}
			sums[k].Add(f)
		})
	}
	keys := 1 + strings.Count(t.key, ",")
	order := slices.SortedFunc(maps.Keys(sums), sumKey.compare)
	_, err := t.insert(ctx, conn, len(order), func(i int) ([]any, *Figures) {
		return order[i][:keys], sums[order[i]]
	})
	return err
}

// sumKey is the key of a row of sums: texts and numbers, as many as the table has.
type sumKey [6]any

func (a sumKey) compare(b sumKey) int {
	for i := range a {
		c := 0
		switch v := a[i].(type) {
		case string:
			c = cmp.Compare(v, b[i].(string))
		case int64:
			c = cmp.Compare(v, b[i].(int64))
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// labels are what a line is labelled with.
func (l *line) labels() [][2]string { return labelList(l.Name, l.Project, l.machine, l.Tags) }
