package database

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/belay-run/belay/internal/message"
)

// migrate brings the schema up to date. Several processes may do so at the same time.
func (d *DB) migrate() error {
	ctx := context.Background()
	if version, err := d.version(ctx, d.SQL); err != nil || version == len(d.Migrations) {
		return err
	}
	return d.Write(ctx, func(conn *sql.Conn) error { return d.migrateIn(ctx, conn) })
}

func (d *DB) migrateIn(ctx context.Context, conn *sql.Conn) error {
	version, err := d.version(ctx, conn) // another may have been faster
	if err != nil {
		return err
	}
	if version == 0 {
		var tables int
		if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return err
		}
		if tables > 0 {
			return errForeign
		}
	}
	for ; version < len(d.Migrations); version++ {
		if _, err := conn.ExecContext(ctx, d.Migrations[version]); err != nil {
			return fmt.Errorf("schema %d: %w", version+1, err)
		}
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
	return err
}

// version is the version of the schema. One that is newer than ours is refused: we would not know what to leave alone.
func (d *DB) version(ctx context.Context, q Querier) (version int, err error) {
	if err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, err
	}
	if version > len(d.Migrations) {
		return 0, message.Error(fmt.Sprintf("%s (schema %d, this one knows %d). Install that version, or set BELAY_STATE_DIR to another directory", message.RecordNewer(), version, len(d.Migrations)), ErrNewer)
	}
	return version, nil
}

var (
	// ErrNewer says that a later version of Belay has made the database.
	ErrNewer = message.Error(message.RecordNewer())
	// errForeign says that it is a database, but not ours.
	errForeign = message.Error("it is a database of another program")
)

// Querier is a database, a connection or a transaction.
type Querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
