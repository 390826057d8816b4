package record

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/record/database"
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

// Pruned is what was removed.
type Pruned struct {
	Before      time.Time `json:"before"`
	Invocations int64     `json:"invocations"`
	Rows        int64     `json:"rows"` // over all tables
	Logs        []string  `json:"logs"` // files of the log that were removed
	Rotated     string    `json:"rotated,omitempty"`
	Sessions    int       `json:"session_files"`
	Outputs     int       `json:"outputs"` // of detached runs
	Bytes       int64     `json:"bytes"`   // that the state directory is smaller
}

// older are the rows to be removed, by table. An invocation is removed with its attempts, and only when it has ended.
var older = []struct{ table, where string }{
	{"outbox", "invocation IN (SELECT id FROM invocations WHERE timestamp < ?1)"},
	{"attempts", "invocation IN (SELECT id FROM invocations WHERE timestamp < ?1)"},
	{"invocations", "timestamp < ?1"},
	{"events", "timestamp < ?1"},
	{"audit", "timestamp < ?1"},
	{"alerts", "timestamp < ?1"},
	{"sessions", "timestamp < ?1"},
	{"rollup", "quarter < ?1 / 900000"},
	{"label_rollup", "quarter < ?1 / 900000"},
	{"first_tokens", "quarter < ?1 / 900000"},
}

// removeOlder removes them, and counts them.
func removeOlder(ctx context.Context, db *database.DB, p *Pruned, dry bool) error {
	return db.Write(ctx, func(conn *sql.Conn) error {
		for _, o := range older {
			var n int64
			if dry {
				if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM "+o.table+" WHERE "+o.where, p.Before.UnixMilli()).Scan(&n); err != nil {
					return err
				}
			} else {
				res, err := conn.ExecContext(ctx, "DELETE FROM "+o.table+" WHERE "+o.where, p.Before.UnixMilli())
				if err != nil {
					return err
				}
				n, _ = res.RowsAffected()
			}
			if o.table == "invocations" {
				p.Invocations = n
			}
			p.Rows += n
		}
		return nil
	})
}
