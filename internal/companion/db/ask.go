package db

import (
	"context"
	"database/sql"
	"strings"
)

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
