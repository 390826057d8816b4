package record_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/verdict"
)

var (
	ctx = context.Background()
	t0  = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
)

// world is a state directory with a log.
type world struct {
	testing.TB
	dir string
}

func newWorld(t testing.TB) *world { return &world{t, t.TempDir()} }

func (w *world) log() string { return filepath.Join(w.dir, "log.jsonl") }

// append writes entries to the log as a run does.
func (w *world) append(entries ...journal.Entry) {
	w.Helper()
	for _, e := range entries {
		if err := (&journal.Log{Path: w.log()}).Append(e); err != nil {
			w.Fatal(err)
		}
	}
}

// text writes raw text to the end of the log.
func (w *world) text(s string) {
	w.Helper()
	f, err := os.OpenFile(w.log(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(s)
		f.Close()
	}
	if err != nil {
		w.Fatal(err)
	}
}

// latest is the version of the schema, which tests replace for some time.
var latest = record.Latest()

// empty is a record without rows, as the first process makes it.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "belay-record-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	d, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, record.Name))
})

// open opens the record. One that is not there is copied: to make it anew for each test took a quarter of the CPU. Tests of how it is made call [record.Open].
func (w *world) open() *record.DB {
	w.Helper()
	path := filepath.Join(w.dir, record.Name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && record.Latest() == latest {
		data, err := empty()
		if err != nil {
			w.Fatal(err)
		}
		if os.WriteFile(path, data, 0o600) != nil { // it has to do without
			os.Remove(path)
		}
	}
	d, err := record.Open(w.dir)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { d.Close() })
	return d
}

// fold opens the record and brings it up to date.
func (w *world) fold() (*record.DB, record.Folded) {
	w.Helper()
	d := w.open()
	sum, err := d.Fold(ctx)
	if err != nil {
		w.Fatal(err)
	}
	return d, sum
}

// query asks the file itself, as another program would, and joins the rows.
func (w *world) query(query string, args ...any) string {
	w.Helper()
	d, err := sql.Open("sqlite", filepath.Join(w.dir, record.Name))
	if err != nil {
		w.Fatal(err)
	}
	defer d.Close()
	rows, err := d.Query(query, args...)
	if err != nil {
		w.Fatal(err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	var out []string
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(sql.NullString)
		}
		if err := rows.Scan(values...); err != nil {
			w.Fatal(err)
		}
		var parts []string
		for _, v := range values {
			parts = append(parts, v.(*sql.NullString).String)
		}
		out = append(out, strings.Join(parts, "|"))
	}
	return strings.Join(out, "\n")
}

// exec changes the file itself, as another program would.
func (w *world) exec(statement string) {
	w.Helper()
	d, err := sql.Open("sqlite", filepath.Join(w.dir, record.Name))
	if err == nil {
		_, err = d.Exec(statement)
		d.Close()
	}
	if err != nil {
		w.Fatal(err)
	}
}

// expect compares what a query returns.
func (w *world) expect(want, query string, args ...any) {
	w.Helper()
	if got := w.query(query, args...); got != want {
		w.Errorf("%s\ngot:\n%s\nwant:\n%s", query, got, want)
	}
}

// counts are the rows of all tables that lines become.
func (w *world) counts() string {
	w.Helper()
	return w.query(`SELECT (SELECT count(*) FROM invocations) || ' invocations, ' || (SELECT count(*) FROM attempts) || ' attempts, ' ||
		(SELECT count(*) FROM events) || ' events, ' || (SELECT count(*) FROM audit) || ' audit, ' || (SELECT count(*) FROM alerts) || ' alerts, ' ||
		(SELECT coalesce(sum(ended), 0) FROM rollup) || ' ended, ' || (SELECT coalesce(sum(attempts), 0) FROM rollup) || ' tried, ' ||
		(SELECT coalesce(sum(input_tokens), 0) FROM rollup) || ' tokens'`)
}

// run is the n-th successful run, a minute after the one before.
func run(n int) journal.Entry {
	return journal.Entry{Timestamp: journal.Time{Time: t0.Add(time.Duration(n) * time.Minute)}, Invocation: fmt.Sprintf("run-%06d", n),
		Profile: "claude", Command: "claude", Attempt: 1, Status: journal.Success, ResponseTime: 1.5, Model: "opus", Session: "s1",
		Usage: usage(100, 10, 0.01)}
}

func usage(in, out int64, cost float64) json.RawMessage {
	return verdict.Usage{InputTokens: in, OutputTokens: out, CostUSD: &cost}.JSON()
}

// failed makes an entry a failure.
func failed(e journal.Entry, status journal.Status, class verdict.Class, message string) journal.Entry {
	e.Status, e.ErrorType, e.Error, e.ExitCode, e.Rule = status, class, message, 1, "rule"
	return e
}

func runs(from, to int) (list []journal.Entry) {
	for n := from; n < to; n++ {
		list = append(list, run(n))
	}
	return list
}

// unmarshal reads what may not be there.
func unmarshal(data json.RawMessage, into any) { json.Unmarshal(data, into) }

// withoutMachines takes back schema 12, and what has come since.
const withoutMachines = `DROP INDEX invocations_batch; ALTER TABLE invocations DROP COLUMN batch; ALTER TABLE invocations DROP COLUMN task; ALTER TABLE invocations DROP COLUMN line;
	ALTER TABLE alerts DROP COLUMN batch; ALTER TABLE alerts DROP COLUMN task; ALTER TABLE alerts DROP COLUMN line; ALTER TABLE invocations DROP COLUMN machine; ALTER TABLE sessions DROP COLUMN machine; ALTER TABLE alerts DROP COLUMN machine;
	ALTER TABLE audit DROP COLUMN machine; ` + withoutChecks

// withoutChecks takes back schema 15, and what has come since.
const withoutChecks = `ALTER TABLE invocations DROP COLUMN prompt; ALTER TABLE attempts DROP COLUMN worktree; ALTER TABLE attempts DROP COLUMN why; ALTER TABLE attempts DROP COLUMN checked; ALTER TABLE attempts DROP COLUMN model_asked; ALTER TABLE rollup DROP COLUMN done_first; ALTER TABLE rollup DROP COLUMN done_later; ALTER TABLE rollup DROP COLUMN not_done;
	ALTER TABLE label_rollup DROP COLUMN done_first; ALTER TABLE label_rollup DROP COLUMN done_later; ALTER TABLE label_rollup DROP COLUMN not_done;
	ALTER TABLE attempts DROP COLUMN peak_memory; ALTER TABLE rollup DROP COLUMN peak_memory; ALTER TABLE label_rollup DROP COLUMN peak_memory; `
