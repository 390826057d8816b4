package db

import (
	"context"
	"database/sql"
	"time"
)

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
