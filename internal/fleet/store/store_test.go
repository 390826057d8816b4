//go:build unix

package store_test

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/test/must"
)

func TestMain(m *testing.M) { fleettest.Main(m) }

// at is the address that a DSN names.
func at(t *testing.T, dsn string) *store.Address {
	t.Helper()
	a, err := store.ParseAddress(dsn, os.Getenv)
	must.OK(t, err)
	return a
}

func TestMigrate(t *testing.T) {
	dsn := fleettest.Empty(t)
	if _, err := store.Open(t.Context(), at(t, dsn)); !errors.Is(err, store.ErrNotInitialised) || !strings.Contains(err.Error(), "belay fleet init") {
		t.Fatalf("%v", err)
	}
	var both sync.WaitGroup
	versions := make([]int, 3)
	for i := range versions { // at the same time
		both.Go(func() {
			s, err := store.Connect(t.Context(), at(t, dsn))
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if versions[i], _, err = s.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	slices.Sort(versions)
	if want := []int{0, store.Version(), store.Version()}; !slices.Equal(versions, want) {
		t.Errorf("they found versions %v, not %v", versions, want)
	}
	s, err := store.Open(t.Context(), at(t, dsn))
	must.OK(t, err)
	defer s.Close()
	var tables []string
	must.OK(t, s.Pool.QueryRow(t.Context(), "select array_agg(table_name::text order by table_name) from information_schema.tables where table_schema = 'belay'").Scan(&tables))
	for _, name := range []string{"machine", "gate", "slot", "budget", "budget_share", "log_position", "log_line", "river_job", "river_migration"} {
		if !slices.Contains(tables, name) {
			t.Errorf("there is no table %s in %v", name, tables)
		}
	}
	if list, err := s.Machines(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
}

// A schema of a later Belay is refused by a line that says what to do, and so is an older one.
func TestOpen_OtherVersions(t *testing.T) {
	dsn := fleettest.Database(t)
	s, err := store.Open(t.Context(), at(t, dsn))
	must.OK(t, err)
	defer s.Close()
	change := func(sql string) {
		if _, err := s.Pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	change("insert into belay.schema_version (version) values (1000)")
	if _, err := store.Open(t.Context(), at(t, dsn)); !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), "upgrade belay") {
		t.Errorf("newer: %v", err)
	}
	if _, _, err := s.Migrate(t.Context()); !errors.Is(err, store.ErrNewer) {
		t.Errorf("a newer schema is not changed: %v", err)
	}
	change("delete from belay.schema_version; insert into belay.schema_version (version) values (-1)")
	if _, err := store.Open(t.Context(), at(t, dsn)); !errors.Is(err, store.ErrOlder) || !strings.Contains(err.Error(), "belay fleet init") {
		t.Errorf("older: %v", err)
	}
}

func TestConnect_SaysWhatIsWrong(t *testing.T) {
	dsn := fleettest.Database(t)
	server := fleettest.Shared(t)
	server.Exec(t, "postgres", "drop role if exists nothing; create role nothing login")
	for _, c := range []struct{ dsn, want string }{
		{strings.Replace(dsn, "user=belay", "user=nothing", 1), "permission denied for schema belay; the rights that a role needs: https://github.com/belay-run/belay/blob/main/docs/fleet.md"},
		{strings.Replace(dsn, "user=belay", "user=nonsense", 1), `role "nonsense" does not exist`},
		{strings.Replace(dsn, "dbname=", "dbname=no", 1), `database "no`},
		{"host=/nowhere dbname=x", "cannot reach PostgreSQL at /nowhere/x: "},
		{"host=127.0.0.1 port=1 dbname=x sslmode=disable", "cannot reach PostgreSQL at 127.0.0.1:1/x: "},
	} {
		_, err := store.Open(t.Context(), at(t, c.dsn))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, not %s", c.dsn, err, c.want)
		}
	}
}

// A process that has died is not in the way of the next one, and one with a copy of the state directory that lives is: it is known by its connection and its heartbeat.
func TestJoin_OtherProcess(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), at(t, fleettest.Database(t)))
	must.OK(t, err)
	defer s.Close()
	id := join(t, s)
	if again := join(t, s); again.Generation == id.Generation { // it has died
		t.Error("the generation stays")
	} else {
		id = again
	}
	conn, err := s.MemberListener(t.Context(), id)
	must.OK(t, err)
	defer conn.Close(context.Background())
	again, err := s.Join(t.Context(), store.Machine{Name: "ant", Instance: "x", Labels: []string{}, Generation: id.Generation})
	if err != nil {
		t.Fatalf("it cannot connect again: %v", err)
	}
	beating, stop := context.WithCancel(t.Context())
	beats := make(chan error, 1)
	go func() {
		var err error
		for beating.Err() == nil && err == nil {
			_, _, err = store.Beat(t.Context(), conn, again, 0)
			time.Sleep(50 * time.Millisecond)
		}
		beats <- err
	}()
	if _, err := s.Join(t.Context(), store.Machine{Name: "ant", Instance: "x", Labels: []string{}}); !errors.Is(err, store.ErrNameTaken) {
		t.Errorf("a copy joins: %v", err)
	}
	stop()
	if err := <-beats; err != nil {
		t.Error(err)
	}
	conn.Close(t.Context())
	join(t, s)
}

// What a machine goes by is leased to it until it has learned that it has less: it may have spent it meanwhile.
func TestExchangeBudget_LeaseInUse(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), at(t, fleettest.Database(t)))
	must.OK(t, err)
	defer s.Close()
	ant := join(t, s)
	bee, err := s.Join(t.Context(), store.Machine{Name: "bee", Instance: "y", Labels: []string{}})
	must.OK(t, err)
	for i, step := range []struct {
		who               store.Identity
		spent, left, want float64
	}{
		{ant, 0, 2.5, 2.5}, // a quarter
		{bee, 6, 0, 1},
		{ant, 0.5, 2, 0.875},     // of 3.5; it goes by 2 as yet
		{bee, 7.2, 0, 0.3},       // and so 2 of 2.3 are not the other's
		{ant, 0.5, 0.875, 0.575}, // it has learned that
		{bee, 7.2, 0.1, 0.575},
	} {
		e, err := s.ExchangeBudget(t.Context(), step.who, store.Spent{Name: "team", Period: "day", Limit: 10, USD: step.spent, Left: step.left})
		if err != nil || math.Abs(e.Share-step.want) > 1e-9 {
			t.Errorf("step %d: %v is leased, want %v, %v", i, e.Share, step.want, err)
		}
	}
}

// In a database that others use too, their functions are not called with a member's rights, also where they fit a call better than PostgreSQL's own.
func TestConnect_FunctionsOfOthers(t *testing.T) {
	t.Parallel()
	dsn := fleettest.Database(t)
	fleettest.Shared(t).Exec(t, dsn[strings.LastIndex(dsn, "=")+1:], `create function public.hashtextextended(text, integer) returns bigint language plpgsql as 'begin raise exception ''called''; end'`)
	s, err := store.Open(t.Context(), at(t, dsn))
	must.OK(t, err)
	defer s.Close()
	if _, ok, err := s.LeaseSlot(t.Context(), join(t, s), "api", 1, -1); !ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
}

// A machine that is cut off, suspended or frozen in a transaction does not hold up the others for long. It learns that its connection is gone, and may try again.
func TestConnect_SilentInATransaction(t *testing.T) {
	t.Parallel()
	dsn := fleettest.Database(t)
	network := fleettest.Forward(t, dsn)
	ant, err := store.Open(t.Context(), at(t, network.DSN()))
	must.OK(t, err)
	defer ant.Close()
	bee, err := store.Open(t.Context(), at(t, dsn))
	must.OK(t, err)
	defer bee.Close()
	silent, err := ant.Pool.Begin(t.Context())
	must.OK(t, err)
	defer silent.Rollback(context.Background())
	const lock = "select pg_advisory_xact_lock(1)"
	if _, err := silent.Exec(t.Context(), lock); err != nil {
		t.Fatal(err)
	}
	network.BlackHole()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := bee.Pool.Exec(ctx, lock); err != nil {
		t.Errorf("another machine waits in vain: %v", err)
	}
	network.Heal()
	if _, err := silent.Exec(t.Context(), "select 1"); !store.Unreachable(err) {
		t.Errorf("the silent one is told %v", err)
	}
}
