package record

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/belay-run/belay/verdict"
)

// eachSize calls with the buckets that a line counts in: of the tokens of an attempt that has used any, and of the duration of a run that has ended.
func (l *line) eachSize(call func(name string, bucket int)) {
	if l.Kind != "" {
		return
	}
	if u := &l.usage; u.InputTokens|u.OutputTokens|u.CacheReadInputTokens|u.CacheCreationInputTokens != 0 {
		call(inputSizes, bucketIn(&TokenBounds, float64(allInput(u))))
		call(outputSizes, bucketIn(&TokenBounds, float64(u.OutputTokens)))
	}
	if final(&l.Entry) {
		call(durations, bucketIn(&DurationBounds, float64(l.took)/1000))
	}
}

// allInput are the tokens that a model has been given, from its cache or not: the conventions count both as input.
func allInput(u *verdict.Usage) int64 {
	return u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens
}

// Meter is what all lines that were ever folded add up to, for one profile, model and class. Prune leaves it alone, so its
// figures only ever grow. Durations are milliseconds.
type Meter struct {
	Profile, Model, Class              string
	Figures                            // without those that meters do not have
	InputSizes, OutputSizes, Durations Buckets
}

// AllInput are all tokens that the model was given.
func (m *Meter) AllInput() int64 { return allInput(&m.Usage) }

// beginMeters puts on record since when there is something to count.
func beginMeters(ctx context.Context, conn *sql.Conn, lines []line) error {
	if len(lines) == 0 {
		return nil
	}
	var there int
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM metered").Scan(&there); err != nil || there > 0 {
		return err
	}
	since := lines[0].begun()
	for i := range lines {
		since = min(since, lines[i].begun())
	}
	_, err := conn.ExecContext(ctx, "INSERT INTO metered (id, since) VALUES (1, ?)", since)
	return err
}

// Meters are the sums of all that was ever folded, and since when; the time is zero if nothing was.
func (s Stats) Meters(ctx context.Context) (list []Meter, since time.Time, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		list, since, err = meters(ctx, tx)
		return err
	})
	return list, since, err
}

func meters(ctx context.Context, tx *sql.Tx) (all []Meter, since time.Time, err error) {
	var begun sql.NullInt64
	if err := tx.QueryRowContext(ctx, "SELECT min(since) FROM metered").Scan(&begun); err != nil {
		return nil, since, err
	}
	if begun.Valid {
		since = moment(begun.Int64)
	}
	list := kept(inMeters)
	rows, err := tx.QueryContext(ctx, "SELECT profile, model, class"+list.columns()+" FROM meters ORDER BY profile, model, class")
	if err != nil {
		return nil, since, err
	}
	defer rows.Close()
	for rows.Next() {
		var m Meter
		if err := rows.Scan(list.at([]any{&m.Profile, &m.Model, &m.Class}, &m.Figures)...); err != nil {
			return nil, since, err
		}
		all = append(all, m)
	}
	if err := rows.Err(); err != nil {
		return nil, since, err
	}
	return all, since, readSpreads(ctx, tx, all)
}

func readSpreads(ctx context.Context, tx *sql.Tx, list []Meter) error {
	rows, err := tx.QueryContext(ctx, "SELECT name, profile, model, class, bucket, count FROM spreads")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var k Meter
		var bucket int
		var count int64
		if err := rows.Scan(&name, &k.Profile, &k.Model, &k.Class, &bucket, &count); err != nil {
			return err
		}
		i, ok := slices.BinarySearchFunc(list, k, func(a, b Meter) int {
			return cmp.Or(cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Class, b.Class))
		})
		if !ok || bucket < 0 || bucket >= len(Buckets{}) {
			continue
		}
		switch m := &list[i]; name {
		case inputSizes:
			m.InputSizes[bucket] = count
		case outputSizes:
			m.OutputSizes[bucket] = count
		case durations:
			m.Durations[bucket] = count
		}
	}
	return rows.Err()
}

// MeterWait is how long was waited, and for what.
type MeterWait struct {
	Reason       string
	Milliseconds int64
}

// Waits splits what was waited by its reason: backoff before a retry, a gate or scope that was closed, and inner for what a command
// has waited by itself.
func (m *Meter) Waits() []MeterWait {
	return []MeterWait{{"backoff", max(0, m.WaitMS-m.InnerWaitMS-m.GateWaitMS)}, {"gate", m.GateWaitMS}, {"inner", m.InnerWaitMS}}
}
