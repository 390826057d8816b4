package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/belay-run/belay/internal/message"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrating is the advisory lock under which the schema is changed.
const migrating = 0x62656c6179 // "belay"

// steps are the migrations of this Belay, in order: the first makes version 1.
func steps() (list []string) {
	names, _ := fs.Glob(migrations, "migrations/*.sql")
	for _, name := range names {
		sql, err := migrations.ReadFile(name)
		if err != nil {
			panic(err) // they are part of the executable
		}
		list = append(list, string(sql))
	}
	return list
}

// Version is the schema that this Belay works with.
func Version() int { return len(steps()) }

// Migrate makes the tables, or brings them up to date, and says from which version to which. Members may be running meanwhile: a step only ever
// adds. Each step is a transaction, and two callers at the same time wait for each other.
func (s *Store) Migrate(ctx context.Context) (from, to int, err error) {
	conn, err := s.Pool.Acquire(ctx)
	if err != nil {
		return 0, 0, s.Trouble(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", int64(migrating)); err != nil {
		return 0, 0, s.Trouble(err)
	}
	defer conn.Exec(context.WithoutCancel(ctx), "select pg_advisory_unlock($1)", int64(migrating))
	list := steps()
	if from, err = s.version(ctx); err != nil && !errors.Is(err, ErrNotInitialised) {
		return 0, 0, err
	}
	if to = len(list); from > to {
		return from, to, message.Error(message.FleetNewer(from, to), ErrNewer)
	}
	if from == 0 {
		_, err := conn.Exec(ctx, `create schema if not exists belay;
create table if not exists belay.schema_version (version integer primary key, applied timestamptz not null default now())`)
		if err != nil {
			return from, to, s.Trouble(err)
		}
	}
	for i, sql := range list[from:] {
		err := pgx.BeginFunc(ctx, conn.Conn(), func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "insert into belay.schema_version (version) values ($1)", from+i+1)
			return err
		})
		if err != nil {
			return from, to, s.Trouble(err)
		}
	}
	return from, to, s.Trouble(s.migrateRiver(ctx))
}

// migrateRiver makes the tables of the queue, in the same schema.
func (s *Store) migrateRiver(ctx context.Context) error {
	m, err := rivermigrate.New(riverpgxv5.New(s.Pool), &rivermigrate.Config{Schema: Schema, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// version is the version of the schema that is there.
func (s *Store) version(ctx context.Context) (v int, err error) {
	err = s.Pool.QueryRow(ctx, "select coalesce(max(version), 0) from belay.schema_version").Scan(&v)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && (e.Code == "42P01" || e.Code == "3F000") || err == nil && v == 0 { // undefined_table, invalid_schema_name
		return 0, message.Error(fmt.Sprintf("there is no fleet at %s yet; create it with: belay fleet init", s.Address.Text), ErrNotInitialised)
	}
	return v, s.Trouble(err)
}

// check refuses a schema that this Belay does not know.
func (s *Store) check(ctx context.Context) error {
	there, err := s.version(ctx)
	if err != nil {
		return err
	}
	switch ours := Version(); {
	case there > ours:
		return message.Error(message.FleetNewer(there, ours), ErrNewer)
	case there < ours:
		return message.Error(fmt.Sprintf("the fleet has schema version %d, and this belay needs %d; upgrade it with: belay fleet init", there, ours), ErrOlder)
	}
	return nil
}
