package record

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/record/database"
)

// Point is what a group of runs adds up to in a part of the time that was asked for. Its Key is that of the first group.
type Point struct {
	At     time.Time
	Second string // the key of the second group, if there is one
	Figures
}

// figures are the ones that are summed.
func (s Sums) figures() figureList { return some(func(f *Figure) bool { return f.of&s != 0 }) }

// Series adds up what the filter lets through by one group or two and by steps of time, of which start says when the one begins that a time is in. It
// knows whole quarters of an hour: Since is rounded down to one, Until up. Points are ordered by time. The second group can be no label.
func (s Stats) Series(ctx context.Context, f Filter, what Sums, start func(time.Time) time.Time, by ...Group) (list []Point, err error) {
	first, end, err := s.span(ctx, f)
	if err != nil || first >= end {
		return nil, err
	}
	steps := stretches(first, end, start)
	q := series{db: s.db, what: what, first: first, end: end}
	switch table, label := f.rollup(by[0]); {
	case table == "":
		list, err = q.ofRows(ctx, f, steps, by)
	case label != "":
		list, err = q.ofLabel(ctx, f, steps, label)
	default:
		list, err = q.ofRollup(ctx, f, steps, table, by)
	}
	slices.SortFunc(list, func(a, b Point) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Second, b.Second))
	})
	return list, err
}

// rollup is the table with the sums that a question needs, and the label whose values are its groups, if they are those of a label; empty if no table has them.
func (f Filter) rollup(by Group) (table, label string) {
	labels, grouped := len(f.labelList()), by.label("") != ""
	switch {
	case labels == 0 && !grouped:
		return "rollup", ""
	case labels == 1 && !grouped:
		return "label_rollup", ""
	case labels == 0:
		return "label_rollup", string(by)
	}
	return "", ""
}

// series is a question for sums.
type series struct {
	db         *database.DB
	what       Sums
	first, end int64 // quarters
}

// ofRollup adds up a table by its columns.
func (s series) ofRollup(ctx context.Context, f Filter, steps []stretch, table string, by []Group) (list []Point, err error) {
	keys, n := groupKeys(by, map[Group]string{ByProfile: "profile", ByModel: "model", ByClass: "class"})
	for _, st := range steps {
		w := &where{}
		for _, l := range f.labelList() {
			w.and("label = ? AND value = ?", l[0], l[1])
		}
		w.and("quarter >= ? AND quarter < ?", max(st.from, s.first), min(st.from+st.length*int64(len(st.at)), s.end))
		narrow(w, f, "profile", "class")
		query := fmt.Sprintf("SELECT (quarter - %d) / %d%s%s FROM %s%s GROUP BY 1%s", st.from, st.length, keys, s.what.figures().rollupSums(), table, w, n)
		if list, err = s.points(ctx, list, st.at, s.what.figures(), len(by), query, w.args...); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// ofRows is for what no sums are kept of: several labels at once.
func (s series) ofRows(ctx context.Context, f Filter, steps []stretch, by []Group) (list []Point, err error) {
	known := map[Group]string{ByProfile: "coalesce(a.profile, i.profile)", ByModel: "coalesce(a.model, '')", ByClass: "a.class"}
	if label := by[0].label("i."); label != "" {
		known[by[0]] = "coalesce(" + label + ", '')"
	}
	keys, n := groupKeys(by, known)
	for _, st := range steps {
		w := &where{}
		w.times("a.timestamp", f)
		w.and("a.timestamp >= ? AND a.timestamp < ?", max(st.from, s.first)*quarter, min(st.from+st.length*int64(len(st.at)), s.end)*quarter)
		f.labels(w, "i.")
		narrow(w, f, "coalesce(a.profile, i.profile)", "a.class")
		query := fmt.Sprintf("SELECT (a.timestamp / %d - %d) / %d%s%s FROM attempts a JOIN invocations i ON i.id = a.invocation%s GROUP BY 1%s", quarter, st.from, st.length, keys, s.what.figures().rowSums(), w, n)
		if list, err = s.points(ctx, list, st.at, s.what.figures(), len(by), query, w.args...); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// groupKeys are the columns of groups, and those that SQL groups by.
func groupKeys(by []Group, known map[Group]string) (keys, numbers string) {
	for i, g := range by {
		key, ok := known[g]
		if !ok {
			key = "''"
		}
		keys += ", " + key
		numbers += fmt.Sprintf(", %d", i+2)
	}
	return keys, numbers
}

// mostLookups is how many sums of a value in a step are asked for one by one. That is the cheapest, as nothing has to be sorted, unless there are very many.
const mostLookups = 4000

// ofLabel adds up by the values of a label.
func (s series) ofLabel(ctx context.Context, f Filter, steps []stretch, label string) (list []Point, err error) {
	w := &where{}
	w.and("label = ?", label)
	narrow(w, f, "profile", "class")
	n := 0
	for _, st := range steps {
		n += len(st.at)
	}
	values, err := Stats{s.db}.Values(ctx, Group(label), mostLookups/n+1)
	if err != nil {
		return nil, err
	}
	if len(values)*n > mostLookups {
		return s.ofManyValues(ctx, steps, w)
	}
	w.and("value = ? AND quarter >= ? AND quarter < ?")
	err = s.db.Ask(ctx, func() error {
		list, err = s.ofFewValues(ctx, steps, "SELECT value"+s.what.figures().rollupSums()+" FROM label_rollup"+w.String()+" GROUP BY value", w.args, values)
		return err
	})
	return list, err
}

// ofFewValues looks for each value in each step.
func (s series) ofFewValues(ctx context.Context, steps []stretch, query string, args []any, values []string) (list []Point, err error) {
	look, err := s.db.SQL.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer look.Close()
	for _, value := range values {
		for _, st := range steps {
			for i, at := range st.at {
				from := st.from + int64(i)*st.length
				p := Point{At: at}
				err := look.QueryRowContext(ctx, append(slices.Clone(args), value, max(from, s.first), min(from+st.length, s.end))...).Scan(s.what.figures().at([]any{&p.Key}, &p.Figures)...)
				switch {
				case errors.Is(err, sql.ErrNoRows):
				case err != nil:
					return nil, err
				default:
					list = append(list, p)
				}
			}
		}
	}
	return list, nil
}

// ofManyValues adds up a label with so many values that most steps have nothing of most of them.
func (s series) ofManyValues(ctx context.Context, steps []stretch, w *where) (list []Point, err error) {
	for _, st := range steps {
		narrowed := &where{slices.Clone(w.parts), slices.Clone(w.args)}
		narrowed.and("quarter >= ? AND quarter < ?", max(st.from, s.first), min(st.from+st.length*int64(len(st.at)), s.end))
		query := fmt.Sprintf("SELECT (quarter - %d) / %d, value%s FROM label_rollup%s GROUP BY 1, 2", st.from, st.length, s.what.figures().rollupSums(), narrowed)
		if list, err = s.points(ctx, list, st.at, s.what.figures(), 1, query, narrowed.args...); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// points appends what a query answers with: the number of the step, the keys of so many groups, the sums.
func (s series) points(ctx context.Context, list []Point, at []time.Time, figures figureList, groups int, query string, args ...any) ([]Point, error) {
	found, err := database.Collect(ctx, s.db, query, args, func(found *sql.Rows) (p Point, err error) {
		var step int
		to := append([]any{&step}, []any{&p.Key, &p.Second}[:groups]...)
		if err := found.Scan(figures.at(to, &p.Figures)...); err != nil {
			return p, err
		}
		p.At = at[step]
		return p, nil
	})
	return append(list, found...), err
}

// Percentiles of times to the first token in a step of time, in milliseconds.
type Percentiles struct {
	At  time.Time `json:"at"`
	N   int64     `json:"n"`
	P50 float64   `json:"p50_ms"`
	P90 float64   `json:"p90_ms"`
}

// FirstTokens returns how long the first token took, in steps of time. Labels are not known here, and what the filter says of them is not looked at.
func (s Stats) FirstTokens(ctx context.Context, f Filter, start func(time.Time) time.Time) (list []Percentiles, err error) {
	first, end, err := s.span(ctx, f)
	if err != nil {
		return nil, err
	}
	for _, st := range stretches(first, end, start) {
		w := &where{}
		w.and("quarter >= ? AND quarter < ?", max(st.from, first), min(st.from+st.length*int64(len(st.at)), end))
		w.is("profile", f.Profile)
		counts, err := s.firstTokens(ctx, len(st.at), fmt.Sprintf("SELECT (quarter - %d) / %d, bucket, sum(n) FROM first_tokens%s GROUP BY 1, 2", st.from, st.length, w), w.args)
		if err != nil {
			return nil, err
		}
		for i, at := range st.at {
			if counts[i] != nil {
				p := Percentiles{At: at}
				p.of(counts[i])
				list = append(list, p)
			}
		}
	}
	return list, nil
}

// firstTokens are the counts of the buckets in each step.
func (s Stats) firstTokens(ctx context.Context, steps int, query string, args []any) ([]map[int]int64, error) {
	type count struct {
		step, bucket int
		n            int64
	}
	list, err := database.Collect(ctx, s.db, query, args, func(found *sql.Rows) (c count, err error) {
		err = found.Scan(&c.step, &c.bucket, &c.n)
		return c, err
	})
	counts := make([]map[int]int64, steps)
	for _, c := range list {
		if counts[c.step] == nil {
			counts[c.step] = map[int]int64{}
		}
		counts[c.step][c.bucket] = c.n
	}
	return counts, err
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
func (s Stats) Values(ctx context.Context, of Group, limit int) (list []string, err error) {
	// Each step looks for the next value, instead of reading all rows of one.
	query := `WITH RECURSIVE v(x) AS (SELECT min(value) FROM label_rollup WHERE label = ?1 UNION ALL
		SELECT (SELECT min(value) FROM label_rollup WHERE label = ?1 AND value > x) FROM v WHERE x IS NOT NULL) SELECT x FROM v WHERE x IS NOT NULL LIMIT ?2`
	if of == ByProfile {
		query = "SELECT DISTINCT profile FROM rollup WHERE attempts + refused + ended > 0 AND ?1 = ?1 ORDER BY 1 LIMIT ?2"
	}
	return database.Texts(ctx, s.db, query, string(of), limit)
}

// TagKeys are the keys of the tags that runs on record have.
func (s Stats) TagKeys(ctx context.Context, limit int) ([]string, error) {
	return database.Texts(ctx, s.db, `WITH RECURSIVE v(x) AS (SELECT min(label) FROM label_rollup WHERE label > 'tag.' AND label < 'tag/' UNION ALL
		SELECT (SELECT min(label) FROM label_rollup WHERE label > x AND label < 'tag/') FROM v WHERE x IS NOT NULL) SELECT substr(x, 5) FROM v WHERE x IS NOT NULL LIMIT ?`, limit)
}

// stretch is a part of the time in which all steps are equally long, so that SQL can tell by the quarter of an hour which one it is in. Days are, but
// for those on which the clocks are set.
type stretch struct {
	from, length int64       // in quarters
	at           []time.Time // when each step begins
}

// stretches are the stretches of the quarters from first up to end. The last step may go on beyond that.
func stretches(first, end int64, start func(time.Time) time.Time) (list []stretch) {
	length := int64(0) // of the step before
	for q := first; q < end; {
		at := start(moment(q * quarter))
		same := func(q int64) bool { return start(moment(q * quarter)).Equal(at) }
		next := q + 1
		switch {
		case length > 0 && same(q+length-1) && !same(q+length):
			next = q + length
		default:
			for next < end && same(next) {
				next++
			}
		}
		if next-q < length && next == end {
			next = q + length
		}
		if n := len(list); n > 0 && list[n-1].length == next-q {
			list[n-1].at = append(list[n-1].at, at)
		} else {
			list = append(list, stretch{q, next - q, []time.Time{at}})
		}
		length = next - q
		q = next
	}
	return list
}

// span is which quarters a filter asks for of those on record: from first up to end.
func (s Stats) span(ctx context.Context, f Filter) (first, end int64, err error) {
	var from, to sql.NullInt64
	err = s.db.Row(ctx, "SELECT (SELECT min(quarter) FROM rollup), (SELECT max(quarter) FROM rollup)", nil, &from, &to)
	if err != nil || !from.Valid {
		return 0, 0, err
	}
	first, end = from.Int64, to.Int64+1
	if !f.Since.IsZero() {
		first = max(first, floorDiv(f.Since.UnixMilli(), quarter))
	}
	if !f.Until.IsZero() {
		end = min(end, -floorDiv(-f.Until.UnixMilli(), quarter))
	}
	return first, end, nil
}

// First is when the oldest run on record has ended, or the quarter of an hour in which it has.
func (s Stats) First(ctx context.Context) (time.Time, error) {
	var at sql.NullInt64
	err := s.db.Row(ctx, "SELECT min(quarter) FROM rollup", nil, &at)
	if err != nil || !at.Valid {
		return time.Now(), err
	}
	return moment(at.Int64 * quarter), nil
}
