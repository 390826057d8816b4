package record

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"strings"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// rows is how rows of one kind are inserted. Those that are there already stay as they are if there is no key; else figures are added to them.
type rows struct {
	table, key, columns string
	figures             places   // whose columns come after the others
	update              []string // what else is set in a row that is there
}

// rowsPerInsert is how many rows go into one statement: more gain little.
const rowsPerInsert = 32

// insert inserts n rows, each of its columns and figures, and returns how many there are more, or were changed.
func (r rows) insert(ctx context.Context, conn *sql.Conn, n int, row func(int) ([]any, *Figures)) (changed int64, err error) {
	var args []any
	list := kept(r.figures)
	for next := 0; next < n; {
		size := rowsPerInsert
		if n-next < rowsPerInsert {
			size = 1
		}
		stmt, err := conn.PrepareContext(ctx, r.statement(size))
		if err != nil {
			return changed, err
		}
		for ; n-next >= size; next += size {
			args = args[:0]
			for i := range size {
				columns, f := row(next + i)
				args = list.values(append(args, columns...), f)
			}
			res, err := stmt.ExecContext(ctx, args...)
			if err != nil {
				stmt.Close()
				return changed, err
			}
			rows, err := res.RowsAffected()
			if err != nil {
				stmt.Close()
				return changed, err
			}
			changed += rows
		}
		stmt.Close()
	}
	return changed, nil
}

func (r rows) statement(size int) string {
	list := kept(r.figures)
	columns := r.columns + list.columns()
	one := "(?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ")"
	text := "INSERT INTO " + r.table + " (" + columns + ") VALUES " + one + strings.Repeat(", "+one, size-1) + " ON CONFLICT "
	if r.key == "" {
		return text + "DO NOTHING"
	}
	return text + "(" + r.key + ") DO UPDATE SET " + strings.Join(append(list.update(), r.update...), ", ")
}

// figures are what a line adds to the sums.
func (l *line) figures() Figures {
	if l.Kind != "" { // it is not about an attempt
		return Figures{Faults: 1}
	}
	u := l.usage
	f := Figures{WaitMS: l.waited(), ResponseMS: ms(l.ResponseTime), InnerWaitMS: ms(l.InnerWait), GateWaitMS: ms(l.GateWait), Requests: int64(l.Requests),
		PeakMemory: int64(max(l.PeakMemory, l.PeakTree, 0)), InnerRetries: int64(l.InnerRetries), Usage: u, UnknownUsage: countIf(u.Unknown), EstimatedCosts: countIf(u.Estimated),
		Attempts: countIf(l.Attempt > 0), Refused: countIf(l.Attempt <= 0 && l.Status != journal.Success), Succeeded: countIf(l.Status == journal.Success)}
	// An attempt may report the costs of earlier ones.
	f.UnknownCosts = countIf(u.CostUnknown()) - int64(u.Settles)
	f.NoCosts = countIf(u.CostUSD == nil && u.CostUnknown()) - int64(u.Settles)
	if final(&l.Entry) {
		f.Invocations, f.TookMS = 1, l.took
		f.NotDone = countIf(l.ErrorType == verdict.NotDone)
		if c := l.Check; c != nil && c.Passed && f.Succeeded*f.Attempts > 0 {
			f.DoneFirst, f.DoneLater = countIf(c.Round == 0), countIf(c.Round > 0)
		}
	}
	return f
}

func countIf(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// classOf is the class of an outcome; the log leaves it out where all went well.
func classOf(e *journal.Entry) string {
	if e.ErrorType == "" {
		if e.Status == journal.Success {
			return string(verdict.OK)
		}
		return string(verdict.Unknown)
	}
	return string(e.ErrorType)
}

// ms are milliseconds of seconds.
func ms(seconds float64) int64 {
	if n := math.Round(seconds * 1000); n > 0 && n < math.MaxInt64 {
		return int64(n)
	}
	return 0
}

// null is a value, or NULL for that of its type which says nothing.
func null[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

func nullTime(t journal.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// nullTags are tags as JSON.
func nullTags(tags map[string]string) any { return nullJSON(tags, len(tags)) }

// tagsOf reads tags that are on record.
func tagsOf(text string) (tags map[string]string) {
	if text != "" {
		json.Unmarshal([]byte(text), &tags) // what cannot be read is none
	}
	return tags
}

// nullCheck is a check as JSON.
func nullCheck(c *journal.Check) any {
	if c == nil {
		return nil
	}
	return nullJSON(c, 1)
}

// nullList is a list as JSON.
func nullList[T any](list []T) any { return nullJSON(list, len(list)) }

func nullJSON(v any, length int) any {
	data, err := json.Marshal(v)
	if length == 0 || err != nil {
		return nil
	}
	return string(data)
}

// floorDiv rounds down, also before 1970.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// answered asks the database, and once more if it was found to be damaged: it has been set aside by then, and made again from what is left of the
// log. Only the page that a question needs shows the damage, so that neither opening the database nor a fold has to find it.
func (d *DB) answered(ctx context.Context, ask func() error) error {
	err := ask()
	if d.readOnly || !damaged(err) && !d.garbled(err) {
		return err
	}
	if err := d.rebuild(err); err != nil {
		return err
	}
	if _, err := d.Fold(ctx); err != nil {
		return err
	}
	return ask()
}

// garbled reports whether a value that no column can have comes from damage, which SQLite need not notice.
func (d *DB) garbled(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "sql: Scan error") && checkIntegrity(d.sql) != nil
}

// collect returns the rows that a query answers with.
func collect[T any](ctx context.Context, d *DB, query string, args []any, scan func(*sql.Rows) (T, error)) (list []T, err error) {
	err = d.answered(ctx, func() error {
		list = nil
		found, err := d.sql.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			one, err := scan(found)
			if err != nil {
				return err
			}
			list = append(list, one)
		}
		return found.Err()
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// scalar scans a row of one column.
func scalar[T any](found *sql.Rows) (value T, err error) {
	err = found.Scan(&value)
	return value, err
}

// row scans the only row that a query answers with.
func (d *DB) row(ctx context.Context, query string, args []any, into ...any) error {
	return d.answered(ctx, func() error { return d.sql.QueryRowContext(ctx, query, args...).Scan(into...) })
}
