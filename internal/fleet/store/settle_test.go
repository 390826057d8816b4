//go:build unix

package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/test/must"
)

// Behind a pooler that gives each transaction another connection, notes would be lost without a word: it is refused by a sentence that says what to do, and nothing that was set is
// left on connections that others use. With a connection for each client, all works.
func TestConnect_Pooler(t *testing.T) {
	t.Parallel()
	dsn := fleettest.Database(t)
	for mode, works := range map[string]bool{"session": true, "transaction": false, "statement": false} {
		t.Run(mode, func(t *testing.T) {
			through := fleettest.Bouncer(t, dsn, mode)
			for _, busy := range []int{0, 3} { // connections of PostgreSQL that others have used meanwhile
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				var others []*pgx.Conn
				for range busy {
					conn, err := pgx.Connect(ctx, through+" default_query_exec_mode=simple_protocol")
					must.OK(t, err)
					defer conn.Close(ctx)
					others = append(others, conn)
				}
				for _, conn := range others {
					if _, err := conn.Exec(ctx, "select pg_sleep(0.01)"); err != nil {
						t.Fatal(err)
					}
				}
				s, err := store.Open(ctx, at(t, through))
				if !works {
					if err == nil || store.Unreachable(err) || !strings.Contains(err.Error(), "PgBouncer") {
						t.Fatalf("%v", err)
					}
					for _, conn := range others {
						var path string
						if err := conn.QueryRow(ctx, "show search_path").Scan(&path); err != nil || strings.Contains(path, "pg_catalog") {
							t.Errorf("search_path is %s: %v", path, err)
						}
					}
					continue
				}
				must.OK(t, err)
				defer s.Close()
				listener, err := s.Listener(ctx)
				must.OK(t, err)
				defer listener.Close(ctx)
				must.OK(t, s.Leave(ctx, join(t, s)))
				if note, err := listener.WaitForNotification(ctx); err != nil || store.ParseNote(note.Payload).Kind != store.NoteMachine {
					t.Errorf("%v %v", note, err)
				}
			}
		})
	}
}

// join makes a machine a member.
func join(t *testing.T, s *store.Store) store.Identity {
	t.Helper()
	id, err := s.Join(t.Context(), store.Machine{Name: "ant", Instance: "x", Labels: []string{}})
	must.OK(t, err)
	return id
}
