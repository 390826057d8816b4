package database

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// Ask asks the database, and once more if it was found to be damaged: it has been set aside by then, and made again from what is left of the
// log. Only the page that a question needs shows the damage, so that neither opening the database nor a fold has to find it.
func (d *DB) Ask(ctx context.Context, ask func() error) error {
	err := ask()
	if d.readOnly || !Damaged(err) && !d.garbled(err) {
		return err
	}
	if err := d.Rebuild(err); err != nil {
		return err
	}
	if err := d.Refill(ctx); err != nil {
		return err
	}
	return ask()
}

// garbled reports whether a value that no column can have comes from damage, which SQLite need not notice.
func (d *DB) garbled(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "sql: Scan error") && checkIntegrity(d.SQL) != nil
}

// Collect returns the rows that a query answers with.
func Collect[T any](ctx context.Context, d *DB, query string, args []any, scan func(*sql.Rows) (T, error)) (list []T, err error) {
	err = d.Ask(ctx, func() error {
		list = nil
		found, err := d.SQL.QueryContext(ctx, query, args...)
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

// Scalar scans a row of one column.
func Scalar[T any](found *sql.Rows) (value T, err error) {
	err = found.Scan(&value)
	return value, err
}

// Row scans the only row that a query answers with.
func (d *DB) Row(ctx context.Context, query string, args []any, into ...any) error {
	return d.Ask(ctx, func() error { return d.SQL.QueryRowContext(ctx, query, args...).Scan(into...) })
}

// Read runs questions that must agree in one transaction.
func (d *DB) Read(ctx context.Context, ask func(*sql.Tx) error) error {
	return d.Ask(ctx, func() error {
		tx, err := d.SQL.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		return ask(tx)
	})
}

// Newest runs a query that has the newest row first, and returns at most limit rows in the order of time.
func Newest[T any](ctx context.Context, d *DB, query string, args []any, limit int, scan func(*sql.Rows) (T, error)) ([]T, error) {
	if limit > 0 {
		query += " LIMIT ?"
		args = append(args, limit)
	}
	list, err := Collect(ctx, d, query, args, scan)
	slices.Reverse(list)
	return list, err
}

// Texts are the texts that a query answers with.
func Texts(ctx context.Context, d *DB, query string, args ...any) (list []string, err error) {
	return Collect(ctx, d, query, args, Scalar[string])
}
