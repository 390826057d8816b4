package record

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
)

// summed is a table with sums of what lines have in common.
type summed struct {
	rows
	// of calls add with what a line adds, and to which row.
	of func(l *line, add func(f *Figures, key ...any))
}

// one is what a line adds to the tables that only count.
var one = Figures{sizes: 1, firstTokens: 1}

// summedTables are all of them. Names, projects and tags are labels; a run with several of them counts in each.
var summedTables = []summed{
	{rows{table: "rollup", key: "quarter, profile, model, class", columns: "quarter, profile, model, class", figures: inRollups}, func(l *line, add func(*Figures, ...any)) {
		f := l.figures()
		add(&f, l.quarter(), l.Profile, l.Model, classOf(&l.Entry))
	}},
	{rows{table: "label_rollup", key: "label, value, quarter, profile, model, class", columns: "label, value, quarter, profile, model, class", figures: inRollups}, func(l *line, add func(*Figures, ...any)) {
		for _, label := range l.labels() {
			f := l.figures()
			add(&f, label[0], label[1], l.quarter(), l.Profile, l.Model, classOf(&l.Entry))
		}
	}},
	{rows{table: "meters", key: "profile, model, class", columns: "profile, model, class", figures: inMeters}, func(l *line, add func(*Figures, ...any)) {
		f := l.figures()
		f.Usage.CostUSD = new(f.Cost()) // one that is not known adds nothing
		add(&f, l.Profile, l.Model, classOf(&l.Entry))
	}},
	{rows{table: "spreads", key: "name, profile, model, class, bucket", columns: "name, profile, model, class, bucket", figures: inSpreads}, func(l *line, add func(*Figures, ...any)) {
		l.eachSize(func(name string, bucket int) {
			add(&one, name, l.Profile, l.Model, classOf(&l.Entry), int64(bucket))
		})
	}},
	{rows{table: "first_tokens", key: "quarter, profile, bucket", columns: "quarter, profile, bucket", figures: inFirstTokens}, func(l *line, add func(*Figures, ...any)) {
		if first := ms(l.FirstToken); first > 0 && l.Kind == "" {
			add(&one, l.quarter(), l.Profile, int64(bucketOf(first)))
		}
	}},
}

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
	sums, list := map[sumKey]*Figures{}, kept(t.figures)
	for i := range lines {
		t.of(&lines[i], func(f *Figures, columns ...any) {
			var k sumKey
			copy(k[:], columns)
			sum := sums[k]
			if sum == nil {
				sum = &Figures{}
				sums[k] = sum
			}
			for _, figure := range list {
				figure.add(sum, f)
			}
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

// settleWaits makes the planned waits count that the new lines show to be over, less what they say was cut short. So the wait
// that a run was killed in counts for nothing, and one that goes on does not count yet.
func settleWaits(ctx context.Context, conn *sql.Conn, fresh []line) error {
	type key struct {
		invocation string
		attempt    int
	}
	index := map[key]int{}
	for i := range fresh {
		l := &fresh[i]
		if l.Planned() > 0 {
			index[key{l.Invocation, l.Attempt}] = i
		}
		if l.Attempt == 1 { // nothing has come before
			continue
		}
		w, err := waitBefore(ctx, conn, l)
		if err != nil {
			return err
		}
		over := max(w.planned-ms(-l.GateWait), -w.waited)
		if w.planned == 0 && over == 0 {
			continue
		}
		if _, err := conn.ExecContext(ctx, "UPDATE attempts SET wait_ms = wait_ms + ?, planned_wait_ms = 0 WHERE invocation = ? AND attempt = ?",
			over, l.Invocation, w.attempt); err != nil {
			return err
		}
		if j, ok := index[key{l.Invocation, w.attempt}]; ok {
			fresh[j].settled = over
		} else if err := settleSums(ctx, conn, l, w, over); err != nil {
			return err
		}
	}
	return nil
}

// settleSums adds to the wait that an attempt on record was counted with.
func settleSums(ctx context.Context, conn *sql.Conn, l *line, w wait, over int64) (err error) {
	add := func(table string, over int64, where string, args ...any) {
		if err == nil {
			_, err = conn.ExecContext(ctx, "UPDATE "+table+" SET wait_ms = wait_ms + ? WHERE "+where, append([]any{over}, args...)...)
		}
	}
	const kind = "profile = ? AND model = ? AND class = ?"
	at := floorDiv(w.at, quarter)
	add("invocations", over, "id = ?", l.Invocation)
	add("rollup", over, "quarter = ? AND "+kind, at, l.Profile, w.model, w.class)
	for _, label := range l.labels() {
		add("label_rollup", over, "label = ? AND value = ? AND quarter = ? AND "+kind, label[0], label[1], at, l.Profile, w.model, w.class)
	}
	add("meters", max(0, over), kind, l.Profile, w.model, w.class)
	return err
}

// wait is that after an attempt on record.
type wait struct {
	attempt         int
	planned, waited int64
	at              int64
	model, class    string
}

// waitBefore is the wait that a line has come after; zero if there was none.
func waitBefore(ctx context.Context, conn *sql.Conn, l *line) (w wait, err error) {
	err = conn.QueryRowContext(ctx, `SELECT attempt, planned_wait_ms, wait_ms - inner_wait_ms, timestamp, coalesce(model, ''), class FROM attempts
		WHERE invocation = ? AND status = 'retry' AND attempt > 0 AND (attempt < ? OR ? = 0) ORDER BY attempt DESC LIMIT 1`, l.Invocation, l.Attempt, l.Attempt).
		Scan(&w.attempt, &w.planned, &w.waited, &w.at, &w.model, &w.class)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return w, err
}
