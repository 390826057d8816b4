package database

import (
	"cmp"
	"context"
	"database/sql"
	"io/fs"
	"os"

	"github.com/belay-run/belay/internal/safefile"
)

// maxCheck is up to where a database is looked through as a whole: a second's work.
const maxCheck = 200 << 20

// Look looks at a database and changes nothing: how large it is, and whether its schema is that of an older version. What is wrong with it is
// the error. It calls ask with the database, unless that is empty.
func Look(o Options, ask func(*sql.DB) error) (size int64, older bool, err error) {
	d := &DB{Options: o}
	info, err := os.Lstat(d.Path())
	if err == nil {
		err = cmp.Or(safefile.CheckOwn(d.Path()), d.checkBeside())
	}
	if err != nil {
		return 0, false, err
	}
	if size = info.Size(); size == 0 {
		return 0, false, nil
	}
	if err := d.connect("busy_timeout(%d)", "query_only(1)"); err != nil {
		return size, false, err
	}
	defer d.Close()
	ctx := context.Background()
	version, err := d.version(ctx, d.SQL)
	if err != nil {
		return size, false, err
	}
	if version == 0 { // it is just being made, or is something else
		var tables int
		if err := d.SQL.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return size, false, err
		}
		if tables == 0 {
			return size, false, fs.ErrNotExist
		}
		if version, err = d.version(ctx, d.SQL); err == nil && version == 0 {
			err = errForeign
		}
		if err != nil {
			return size, false, err
		}
	}
	older = version < len(d.Migrations)
	if size < maxCheck {
		if err := checkIntegrity(d.SQL); err != nil {
			return size, older, err
		}
	}
	return size, older, ask(d.SQL)
}
