package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// MigrateTo makes the tables as an older Belay had them: version is the last of its steps.
func (s *Store) MigrateTo(ctx context.Context, version int) error {
	err := pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "create schema belay; create table belay.schema_version (version integer primary key, applied timestamptz not null default now())"); err != nil {
			return err
		}
		for i, sql := range steps()[:version] {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "insert into belay.schema_version (version) values ($1)", i+1); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.migrateRiver(ctx)
}

// Password is the one that is sent.
func (a *Address) Password() string { return a.config.ConnConfig.Password }
