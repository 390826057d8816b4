package record

import (
	"context"
	"database/sql"
	"slices"
	"time"
)

// Recent returns the newest runs that the filter lets through, newest first, at most Limit. It is [DB.Invocations] for records of any size: the
// sums say in which quarters of an hour there is something, and only those are looked through.
func (d *DB) Recent(ctx context.Context, f Filter) ([]Invocation, error) {
	if f.Session != "" || f.Invocation != "" || f.Limit <= 0 || f.Profile == "" && !f.labelled() {
		list, err := d.Invocations(ctx, f) // which indexes serve
		slices.Reverse(list)
		return list, err
	}
	quarters, err := d.quartersOf(ctx, f)
	if err != nil {
		return nil, err
	}
	var list []Invocation
	for size := 1; len(quarters) > 0 && len(list) < f.Limit; size = min(2*size, 64) {
		n := min(size, len(quarters))
		some := quarters[:n]
		quarters = quarters[n:]
		for len(some) > 0 && len(list) < f.Limit { // quarters that follow each other are one question
			end := 1
			for end < len(some) && some[end] == some[end-1]-1 {
				end++
			}
			found, err := d.between(ctx, f, some[end-1], some[0]+1, f.Limit-len(list))
			if err != nil {
				return nil, err
			}
			list, some = append(list, found...), some[end:]
		}
	}
	return list, nil
}

// between returns the newest runs of the filter in some quarters.
func (d *DB) between(ctx context.Context, f Filter, first, end int64, limit int) ([]Invocation, error) {
	if since := time.UnixMilli(first * quarter); f.Since.Before(since) {
		f.Since = since
	}
	if until := time.UnixMilli(end * quarter); f.Until.IsZero() || f.Until.After(until) {
		f.Until = until
	}
	f.Limit = limit
	list, err := d.Invocations(ctx, f)
	slices.Reverse(list)
	return list, err
}

// quartersOf are the quarters in which runs of the filter may have ended, newest first.
func (d *DB) quartersOf(ctx context.Context, f Filter) (list []int64, err error) {
	labels := f.labelList()
	table, w := "rollup", &where{}
	if len(labels) > 0 { // the others narrow what is found
		table = "label_rollup"
		w.and("label = ? AND value = ?", labels[0][0], labels[0][1])
	}
	w.quarters("quarter", f)
	narrow(w, f, "profile", "class")
	query := "SELECT DISTINCT quarter FROM " + table + w.String()
	args := w.args
	if f.Profile != "" { // a run that a fallback has ended counts there as one of the fallback's
		more := &where{}
		more.and("fallback IS NOT NULL")
		more.times("timestamp", f)
		query += " UNION SELECT timestamp / 900000 FROM invocations" + more.String()
		args = append(args, more.args...)
	}
	return collect(ctx, d, query+" ORDER BY 1 DESC", args, scalar[int64])
}

// Run is the run of an id; nil if it is not on record.
func (d *DB) Run(ctx context.Context, id string) (*Invocation, error) {
	list, err := newest(ctx, d, "SELECT "+invocationColumns+" FROM invocations i WHERE i.id = ?", []any{id}, 1, scanInvocation)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// Children are runs that were started in another one, oldest first.
func (d *DB) Children(ctx context.Context, id string, limit int) ([]Invocation, error) {
	return newest(ctx, d, "SELECT "+invocationColumns+" FROM invocations i WHERE i.parent = ? ORDER BY i.timestamp DESC, i.id DESC", []any{id}, limit, scanInvocation)
}

// First is when the oldest run on record has ended, or the quarter of an hour in which it has.
func (d *DB) First(ctx context.Context) (time.Time, error) {
	var at sql.NullInt64
	err := d.row(ctx, "SELECT min(quarter) FROM rollup", nil, &at)
	if err != nil || !at.Valid {
		return time.Now(), err
	}
	return moment(at.Int64 * quarter), nil
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
func (d *DB) span(ctx context.Context, f Filter) (first, end int64, err error) {
	var from, to sql.NullInt64
	err = d.row(ctx, "SELECT (SELECT min(quarter) FROM rollup), (SELECT max(quarter) FROM rollup)", nil, &from, &to)
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
