package db

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
