// Package record is the record that commands such as belay log query: observability.sqlite in the state directory.
//
// The log (package journal) is what happened; the database is made from it and can be made again. [Open] opens it, and
// makes or migrates it first where that is needed; one that is damaged is set aside and begun anew. [DB.Fold] brings it up
// to date: every line of the log is folded in exactly once, however many processes do so at the same time and wherever
// they are killed, because how far the log has been read stands in the same transaction as the rows. Nothing here takes a
// lock that a run takes.
//
// The other methods answer questions: [DB.Invocations], [DB.Attempts], [DB.Events], [DB.Stats], [DB.Sessions], [DB.Alerts],
// [DB.Audit]. [DB.Prune] removes what is old.
package record

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// Name is the database's file in the state directory.
const Name = "observability.sqlite"

// busyTimeout is how long to wait for another process that writes, in milliseconds.
const busyTimeout = 5000

// DB is the record of a state directory.
type DB struct {
	dir      string
	name     string // of its file; empty means Name
	feed     Feed   // where lines come from instead of the log of the directory
	sql      *sql.DB
	readOnly bool // the database cannot be written, and is not brought up to date
	// Said are messages for the user, such as that a damaged database was set aside.
	Said []string
}

// Open opens the record of a state directory. Where nothing can be written, it can still be asked.
func Open(dir string) (*DB, error) { return openRecord(&DB{dir: dir}) }

func openRecord(d *DB) (*DB, error) {
	if _, err := os.Stat(d.dir); errors.Is(err, fs.ErrNotExist) {
		return d.inMemory() // nothing was ever run, and to ask changes nothing
	}
	err := d.openBeside()
	switch {
	case damaged(err):
		err = d.rebuild(err)
	case unwritable(err):
		return d.openFixed(message.RecordNotWritable(d.dir))
	case Full(err):
		return d.openFixed("no space left in " + d.dir)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Path is where the database is.
func (d *DB) Path() string { return filepath.Join(d.dir, cmp.Or(d.name, Name)) }

// LogPath is the log that is folded in.
func (d *DB) LogPath() string { return filepath.Join(d.dir, "log.jsonl") }

// openBeside opens while no process sets a damaged database aside: its three files must belong to the same database. One
// that is not in WAL mode yet is opened by one process at a time, because SQLite does not wait for its locks to switch.
func (d *DB) openBeside() error {
	mode := flock.Shared
	if !d.inWALMode() {
		mode = flock.Exclusive
	}
	lock, err := lockFile(d.Path()+".lock", mode)
	if err == nil { // where nothing can be written, no process sets anything aside
		defer lock.Close()
	}
	return d.open()
}

// inWALMode says whether the file's header names WAL as what is needed to read and write it.
func (d *DB) inWALMode() bool {
	f, err := safefile.OpenOwn(d.Path(), os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	var versions [2]byte
	_, err = f.ReadAt(versions[:], 18)
	return err == nil && versions == [2]byte{2, 2}
}

func (d *DB) open() error {
	// SQLite would make it as readable as the umask says; its other files get the mode of this one.
	f, err := safefile.OpenOwn(d.Path(), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	f.Close()
	if err := d.checkBeside(); err != nil {
		return err
	}
	if err := d.connect("busy_timeout(%d)", "journal_mode(WAL)", "synchronous(NORMAL)"); err != nil {
		return err
	}
	err = d.migrate()
	if err != nil {
		d.sql.Close()
	}
	return err
}

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
	d.sql, err = sql.Open("sqlite", address(d.Path(), q.Encode()))
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

// openFixed opens a record that cannot be written, and says why not. Without a database that can be read, the log is folded
// into memory.
func (d *DB) openFixed(why string) (*DB, error) {
	if info, err := os.Lstat(d.Path()); err != nil || info.Size() == 0 {
		return d.inMemory()
	}
	d.readOnly = true
	if err := cmp.Or(safefile.CheckOwn(d.Path()), d.checkBeside()); err != nil {
		return nil, err
	}
	q := "mode=ro"
	if info, err := os.Stat(d.Path() + "-wal"); err != nil || info.Size() == 0 {
		q += "&immutable=1" // there is nothing beside it, so no lock is needed; there may be no place for one
	}
	var err error
	d.sql, err = sql.Open("sqlite", address(d.Path(), q))
	if err == nil {
		var version int
		if version, err = schemaOf(context.Background(), d.sql); err == nil && version < len(migrations) {
			err = message.Error(fmt.Sprintf("the record has an older schema (%d) and cannot be written", version))
		}
	}
	switch {
	case errors.Is(err, ErrNewer):
		return nil, err
	case err != nil:
		d.sql.Close()
		d.readOnly = false
		if d, err = d.inMemory(); err == nil {
			d.Said = append(d.Said, message.Sentences(why, "this answer comes from the rest of the log"))
		}
		return d, err
	}
	d.Said = append(d.Said, message.Sentences(why, fmt.Sprintf("what was logged since %s is missing from this answer, but not lost", d.foldedUntil())))
	return d, nil
}

// inMemory is a record in memory, which ends with the process.
func (d *DB) inMemory() (_ *DB, err error) {
	if d.sql, err = sql.Open("sqlite", ":memory:"); err != nil {
		return nil, err
	}
	d.sql.SetMaxOpenConns(1) // each connection would have a memory of its own
	if err := d.migrate(); err != nil {
		d.sql.Close()
		return nil, err
	}
	return d, nil
}

// foldedUntil says in words how far the log has been folded.
func (d *DB) foldedUntil() string {
	var ms sql.NullInt64
	d.sql.QueryRow("SELECT max(folded) FROM logs").Scan(&ms)
	if !ms.Valid {
		return "ever"
	}
	return moment(ms.Int64).Local().Format(time.DateTime)
}

// Close closes the database.
func (d *DB) Close() error { return d.sql.Close() }

// write runs change in a transaction that is known to write from the start: one that becomes a writer halfway fails with "database is locked" at once.
func (d *DB) write(ctx context.Context, change func(*sql.Conn) error) error {
	conn, err := d.sql.Conn(ctx)
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

// moment is the time that a column holds, in UTC for programs; what shows it to a user converts it to local time.
func moment(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
