package record

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/record/logfile"
)

// Name is the database's file in the state directory.
const Name = "observability.sqlite"

// DB is the record of a state directory, or of a fleet. Its parts share one database.
type DB struct {
	*database.DB
	folder
	pruner
	Runs     Runs
	Sessions Sessions
	Trail    Trail
	Stats    Stats
	Alerts   Alerts
	Outbox   Outbox
}

// Open opens the record of a state directory. Where nothing can be written, it can still be asked.
func Open(dir string) (*DB, error) { return open(options(dir, Name), nil) }

// OpenFleet opens the record of a fleet in a state directory. Without a feed it is what it was when it was last brought up to date.
func OpenFleet(dir string, feed Feed) (*DB, error) { return open(options(dir, FleetName), feed) }

func open(o database.Options, feed Feed) (*DB, error) {
	var d DB
	o.Refill = func(ctx context.Context) error {
		_, err := d.Fold(ctx)
		return err
	}
	db, err := database.Open(o)
	if err != nil {
		return nil, err
	}
	d = DB{db, folder{db, feed}, pruner{db}, Runs{db}, Sessions{db}, Trail{db}, Stats{db}, Alerts{db}, Outbox{db}}
	return &d, nil
}

// options are those of the database of a record.
func options(dir, name string) database.Options {
	return database.Options{Dir: dir, Name: name, Migrations: migrations, Lacks: loggedSince}
}

// loggedSince says in words what was logged after the last fold.
func loggedSince(d *sql.DB) string {
	since := "ever"
	var ms sql.NullInt64
	if d.QueryRow("SELECT max(folded) FROM logs").Scan(&ms); ms.Valid {
		since = moment(ms.Int64).Local().Format(time.DateTime)
	}
	return fmt.Sprintf("what was logged since %s", since)
}

// LogPath is the log that is folded in.
func (d *DB) LogPath() string { return logfile.Path(d.Dir) }

// OfFleet reports whether it is the record of a fleet.
func (d *DB) OfFleet() bool { return d.Name == FleetName }

// Health describes a database that is not damaged.
type Health struct {
	Invocations int64
	Torn        int64 // lines of the log that were not whole
	Size        int64
	Older       bool // its schema is that of an older version: the next command that reads it migrates it
}

// Examine looks at the database of a state directory and changes nothing. What is wrong with it is the error.
func Examine(dir string) (h Health, err error) {
	h.Size, h.Older, err = database.Look(options(dir, Name), func(d *sql.DB) error {
		var torn sql.NullInt64
		if err := d.QueryRow("SELECT count(*) FROM invocations").Scan(&h.Invocations); err != nil {
			return err
		}
		err := d.QueryRow("SELECT sum(torn) FROM logs").Scan(&torn)
		h.Torn = torn.Int64
		return err
	})
	return h, err
}
