package db

import (
	"cmp"
	"context"
	"database/sql"
	"io/fs"
	"os"

	"github.com/belay-run/belay/internal/safefile"
)

// Health describes a database that is not damaged.
type Health struct {
	Invocations int64
	Torn        int64 // lines of the log that were not whole
	Size        int64
	Older       bool // its schema is that of an older version: the next command that reads it migrates it
}

// maxCheck is up to where a database is looked through as a whole: a second's work.
const maxCheck = 200 << 20

// Examine looks at the database of a state directory and changes nothing. What is wrong with it is the error.
func Examine(dir string) (h Health, err error) {
	d := &DB{dir: dir}
	info, err := os.Lstat(d.Path())
	if err == nil {
		err = cmp.Or(safefile.CheckOwn(d.Path()), d.checkBeside())
	}
	if err != nil {
		return h, err
	}
	if h.Size = info.Size(); h.Size == 0 {
		return h, nil
	}
	if err := d.connect("busy_timeout(%d)", "query_only(1)"); err != nil {
		return h, err
	}
	defer d.Close()
	ctx := context.Background()
	version, err := schemaOf(ctx, d.sql)
	if err != nil {
		return h, err
	}
	if version == 0 { // it is just being made, or is something else
		var tables int
		if err := d.sql.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return h, err
		}
		if tables == 0 {
			return h, fs.ErrNotExist
		}
		if version, err = schemaOf(ctx, d.sql); err == nil && version == 0 {
			err = errForeign
		}
		if err != nil {
			return h, err
		}
	}
	h.Older = version < len(migrations)
	if h.Size < maxCheck {
		if err := checkIntegrity(d.sql); err != nil {
			return h, err
		}
	}
	var torn sql.NullInt64
	if err := d.sql.QueryRow("SELECT count(*) FROM invocations").Scan(&h.Invocations); err != nil {
		return h, err
	}
	err = d.sql.QueryRow("SELECT sum(torn) FROM logs").Scan(&torn)
	h.Torn = torn.Int64
	return h, err
}
