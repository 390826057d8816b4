package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/safefile"
)

// DB is an open database.
type DB struct {
	Options
	SQL *sql.DB
	// Said are messages for the user, such as that a damaged database was set aside.
	Said     []string
	readOnly bool // it cannot be written
}

// Options say which database it is, and what it is made of.
type Options struct {
	Dir, Name  string   // the directory, and the file in it
	Migrations []string // lead from each version of the schema to the next
	// Lacks says what a database that cannot be written does not have.
	Lacks func(*sql.DB) string
	// Refill fills a database that was made anew.
	Refill func(context.Context) error
}

// Path is where the database is.
func (d *DB) Path() string { return filepath.Join(d.Dir, d.Name) }

// ReadOnly reports whether it cannot be written.
func (d *DB) ReadOnly() bool { return d.readOnly }

// Close closes the database.
func (d *DB) Close() error { return d.SQL.Close() }

// busyTimeout is how long to wait for another process that writes, in milliseconds.
const busyTimeout = 5000

// checkBeside refuses what is not Belay's own at the names of the files that SQLite keeps beside the database: it would
// follow links, and take any file for its own.
func (d *DB) checkBeside() error {
	for _, more := range []string{"-wal", "-shm", "-journal"} {
		if err := safefile.CheckOwn(d.Path() + more); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// connect opens the file with pragmas.
func (d *DB) connect(pragmas ...string) (err error) {
	q := url.Values{}
	for _, p := range pragmas {
		if p == "busy_timeout(%d)" {
			p = fmt.Sprintf(p, busyTimeout)
		}
		q.Add("_pragma", p)
	}
	d.SQL, err = sql.Open("sqlite", address(d.Path(), q.Encode()))
	return err
}

// address is the address of the file for SQLite. Before a drive, as in C:/, there must be a slash, or it would be taken for a host.
func address(path, query string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query}).String()
}

// Write runs change in a transaction that is known to write from the start: one that becomes a writer halfway fails with "database is locked" at once.
func (d *DB) Write(ctx context.Context, change func(*sql.Conn) error) error {
	conn, err := d.SQL.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err = change(conn); err == nil {
		_, err = conn.ExecContext(context.Background(), "COMMIT")
	}
	if err != nil {
		conn.ExecContext(context.Background(), "ROLLBACK")
	}
	return err
}

// SayOnce adds a message for the user, unless it has been added before.
func (d *DB) SayOnce(text string) {
	if !slices.Contains(d.Said, text) {
		d.Said = append(d.Said, text)
	}
}
