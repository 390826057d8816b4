package db

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
)

// labelKey is a row of the sums by label: those of a rollup, for the runs with one label. Names, projects and tags are labels; a run with
// several of them counts in each.
type labelKey struct {
	label, value string
	rollupKey
}

func (a labelKey) compare(b labelKey) int {
	return cmp.Or(cmp.Compare(a.label, b.label), cmp.Compare(a.value, b.value), a.rollupKey.compare(b.rollupKey))
}

// Labels of runs that are no tags. A tag is "tag." and its key.
const (
	labelName    = string(ByName)
	labelProject = string(ByProject)
	labelMachine = string(ByMachine)
)

// eachLabel calls with what a line is labelled with.
func (l *line) eachLabel(call func(label, value string)) {
	if l.Name != "" {
		call(labelName, l.Name)
	}
	if l.Project != "" {
		call(labelProject, l.Project)
	}
	if l.machine != "" {
		call(labelMachine, l.machine)
	}
	for key, value := range l.Tags {
		call(tagPrefix+key, value)
	}
}

func upsertLabelRollup(ctx context.Context, conn *sql.Conn, lines []line) error {
	var all map[labelKey]*tally
	var order []labelKey
	for i := range lines {
		l := &lines[i]
		l.eachLabel(func(label, value string) {
			key := labelKey{label, value, rollupKey{floorDiv(l.Timestamp.UnixMilli(), quarter), l.Profile, l.Model, classOf(&l.Entry)}}
			t := all[key]
			if t == nil {
				if all == nil {
					all = map[labelKey]*tally{}
				}
				t = &tally{}
				all[key] = t
				order = append(order, key)
			}
			t.add(l)
		})
	}
	if len(order) == 0 {
		return nil
	}
	slices.SortFunc(order, labelKey.compare)
	_, err := labelRollupRows.insert(ctx, conn, len(order), func(i int) []any {
		k := order[i]
		return append([]any{k.label, k.value}, k.rollupKey.row(all[k])...)
	})
	return err
}

var labelRollupRows = rows{
	into:     "label_rollup (label, value, " + rollupColumns + ")",
	columns:  2 + rollupRows.columns,
	conflict: "(label, value, quarter, profile, model, class) DO UPDATE SET" + addRollup,
}

// settleLabels adds to the wait that an attempt of that run was counted with.
func settleLabels(ctx context.Context, conn *sql.Conn, l *line, w wait, over int64) (err error) {
	l.eachLabel(func(label, value string) {
		if err == nil {
			_, err = conn.ExecContext(ctx, `UPDATE label_rollup SET wait_ms = wait_ms + ? WHERE label = ? AND value = ? AND quarter = ? AND profile = ?
				AND model = ? AND class = ?`, over, label, value, floorDiv(w.at, quarter), l.Profile, w.model, w.class)
		}
	})
	return err
}

// Time to the first token is kept as counts by size: a bucket is 9 % wider than the one before, so that a percentile is known to less than 5 %.
const firstTokenBase = 1.0905077326652577 // 2^(1/8)

func upsertFirstTokens(ctx context.Context, conn *sql.Conn, lines []line) error {
	type key struct {
		quarter int64
		profile string
		bucket  int
	}
	var all map[key]int64
	for i := range lines {
		l := &lines[i]
		if first := ms(l.FirstToken); first > 0 {
			if all == nil {
				all = map[key]int64{}
			}
			all[key{floorDiv(l.Timestamp.UnixMilli(), quarter), l.Profile, bucketOf(first)}]++
		}
	}
	if len(all) == 0 {
		return nil
	}
	order := make([]key, 0, len(all))
	for k := range all {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.quarter, b.quarter), cmp.Compare(a.profile, b.profile), cmp.Compare(a.bucket, b.bucket))
	})
	_, err := firstTokenRows.insert(ctx, conn, len(order), func(i int) []any {
		k := order[i]
		return []any{k.quarter, k.profile, k.bucket, all[k]}
	})
	return err
}

var firstTokenRows = rows{into: "first_tokens (quarter, profile, bucket, n)", columns: 4,
	conflict: "(quarter, profile, bucket) DO UPDATE SET n = n + excluded.n"}
