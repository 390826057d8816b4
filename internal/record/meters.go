package record

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/verdict"
)

// The upper bounds of buckets, as OpenTelemetry's conventions for generative AI advise them. What is above the last one has a
// bucket of its own.
var (
	// TokenBounds are the bounds of the tokens of an attempt.
	TokenBounds = [...]float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	// DurationBounds are the bounds of the duration of a run, in seconds.
	DurationBounds = [...]float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
)

// Buckets count values by size: the i-th those above bound i-1 and up to bound i.
type Buckets [len(TokenBounds) + 1]int64

// Total is how many values there are.
func (b *Buckets) Total() (n int64) {
	for _, count := range b {
		n += count
	}
	return n
}

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

// bucketIn is the bucket of a value.
func bucketIn(bounds *[len(TokenBounds)]float64, value float64) int {
	i, _ := slices.BinarySearch(bounds[:], value)
	return i
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

// The names of what the table of spreads holds.
const (
	inputSizes  = "input"
	outputSizes = "output"
	durations   = "duration"
)

// schema9: what all lines add up to, beyond what prune removes, and since when. What is on record already is counted.
var schema9 = `
CREATE TABLE meters (
  profile TEXT NOT NULL, model TEXT NOT NULL, class TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, refused INTEGER NOT NULL DEFAULT 0,
  ended INTEGER NOT NULL DEFAULT 0, wait_ms INTEGER NOT NULL DEFAULT 0, inner_wait_ms INTEGER NOT NULL DEFAULT 0, gate_wait_ms INTEGER NOT NULL DEFAULT 0,
  took_ms INTEGER NOT NULL DEFAULT 0, requests INTEGER NOT NULL DEFAULT 0, inner_retries INTEGER NOT NULL DEFAULT 0, input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0, cache_read_tokens INTEGER NOT NULL DEFAULT 0, cache_creation_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0, faults INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (profile, model, class)
) WITHOUT ROWID;
-- How many values of a meter were how large; the bounds of the buckets are in the code, and do not change.
CREATE TABLE spreads (
  name TEXT NOT NULL, profile TEXT NOT NULL, model TEXT NOT NULL, class TEXT NOT NULL, bucket INTEGER NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (name, profile, model, class, bucket)
) WITHOUT ROWID;
CREATE TABLE metered (id INTEGER PRIMARY KEY CHECK (id = 1), since INTEGER NOT NULL);
INSERT INTO meters (profile, model, class, attempts, refused, ended, wait_ms, requests, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, cost_usd, faults)
  SELECT profile, model, class, sum(attempts), sum(refused), sum(ended), sum(wait_ms), sum(requests), sum(input_tokens), sum(output_tokens),
    sum(cache_read_tokens), sum(cache_creation_tokens), coalesce(sum(cost_usd), 0), sum(faults) FROM rollup GROUP BY profile, model, class;
INSERT INTO meters (profile, model, class, inner_wait_ms, gate_wait_ms, inner_retries)
  SELECT coalesce(a.profile, i.profile), coalesce(a.model, ''), a.class, sum(a.inner_wait_ms), sum(a.gate_wait_ms), sum(a.inner_retries)
  FROM attempts a JOIN invocations i ON i.id = a.invocation GROUP BY 1, 2, 3
  ON CONFLICT (profile, model, class) DO UPDATE SET inner_wait_ms = excluded.inner_wait_ms, gate_wait_ms = excluded.gate_wait_ms, inner_retries = excluded.inner_retries;
INSERT INTO meters (profile, model, class, took_ms)
  SELECT coalesce(a.profile, i.profile), coalesce(a.model, ''), a.class, sum(i.timestamp - i.started)
  FROM attempts a JOIN invocations i ON i.id = a.invocation WHERE a.status <> 'retry' GROUP BY 1, 2, 3
  ON CONFLICT (profile, model, class) DO UPDATE SET took_ms = excluded.took_ms;
INSERT INTO spreads (name, bucket, profile, model, class, count)
  SELECT '` + durations + `', ` + bucketSQL("(i.timestamp - i.started) / 1000.0", &DurationBounds) + `, coalesce(a.profile, i.profile), coalesce(a.model, ''), a.class, count(*)
  FROM attempts a JOIN invocations i ON i.id = a.invocation WHERE a.status <> 'retry' GROUP BY 1, 2, 3, 4, 5;
` + sizesSQL(inputSizes, "a.input_tokens + a.cache_read_tokens + a.cache_creation_tokens") + sizesSQL(outputSizes, "a.output_tokens") + `
INSERT INTO metered (id, since) SELECT 1, min(started) FROM invocations HAVING count(*) > 0;
`

// sizesSQL counts the tokens of the attempts that are on record.
func sizesSQL(name, value string) string {
	return `INSERT INTO spreads (name, bucket, profile, model, class, count)
  SELECT '` + name + `', ` + bucketSQL(value, &TokenBounds) + `, coalesce(a.profile, i.profile), coalesce(a.model, ''), a.class, count(*)
  FROM attempts a JOIN invocations i ON i.id = a.invocation WHERE a.input_tokens | a.output_tokens | a.cache_read_tokens | a.cache_creation_tokens <> 0 GROUP BY 1, 2, 3, 4, 5;
`
}

// bucketSQL is the number of the bucket that a value belongs to.
func bucketSQL(value string, bounds *[len(TokenBounds)]float64) string {
	var b strings.Builder
	b.WriteString("CASE")
	for i, bound := range bounds {
		fmt.Fprintf(&b, " WHEN %s <= %.2f THEN %d", value, bound, i)
	}
	fmt.Fprintf(&b, " ELSE %d END", len(bounds))
	return b.String()
}

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

// begun is when the attempt of a line began, what it had to wait for included.
func (l *line) begun() int64 {
	at := l.Timestamp.UnixMilli() - ms(l.ResponseTime) - ms(l.GateWait)
	if l.Check != nil { // which comes behind it
		at -= ms(l.Check.Time)
	}
	return at
}

// Meters are the sums of all that was ever folded, and since when; the time is zero if nothing was.
func (d *DB) Meters(ctx context.Context) (list []Meter, since time.Time, err error) {
	err = d.read(ctx, func(tx *sql.Tx) error {
		list, since, err = meters(ctx, tx)
		return err
	})
	return list, since, err
}

// read runs questions that must agree in one transaction.
func (d *DB) read(ctx context.Context, ask func(*sql.Tx) error) error {
	return d.answered(ctx, func() error {
		tx, err := d.sql.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		return ask(tx)
	})
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
