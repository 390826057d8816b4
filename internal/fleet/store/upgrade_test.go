//go:build unix

package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/test/must"
)

// The tables of an older Belay are upgraded while its members are at work: none of what they do fails, and nothing that they have written is lost. A member of this
// Belay says that they are older, and takes part afterwards.
func TestMigrate_WhileMembersRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dsn := fleettest.Empty(t)
	s, err := store.Connect(ctx, at(t, dsn))
	must.OK(t, err)
	defer s.Close()
	must.OK(t, s.MigrateTo(ctx, 1))
	if _, err := store.Open(ctx, at(t, dsn)); !errors.Is(err, store.ErrOlder) || !strings.Contains(err.Error(), "belay fleet init") {
		t.Fatalf("%v", err)
	}
	var members sync.WaitGroup
	var mu sync.Mutex
	rounds := map[string]int{}
	for _, name := range []string{"ant", "bee"} {
		// A connection of its own, as that of an older Belay: Open would refuse it.
		db, err := store.Connect(ctx, at(t, dsn))
		must.OK(t, err)
		defer db.Close()
		id, err := db.Join(ctx, store.Machine{Name: name, Instance: name, Labels: []string{}})
		must.OK(t, err)
		conn, err := db.Listener(ctx)
		must.OK(t, err)
		defer conn.Close(context.Background())
		members.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				_, _, err := store.Beat(ctx, conn, id, 0)
				if err == nil {
					_, err = db.ExchangeGate(ctx, id, fmt.Sprint(name, n%10), func(now time.Time, g store.Gate) (gate.State, int) {
						return g.State.Held(now, now.Add(time.Hour), "limit"), 0
					})
				}
				if err != nil && ctx.Err() == nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				mu.Lock()
				rounds[name] = n
				mu.Unlock()
			}
		})
	}
	worked := func(more int) {
		t.Helper()
		mu.Lock()
		from := map[string]int{"ant": rounds["ant"], "bee": rounds["bee"]}
		mu.Unlock()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			mu.Lock()
			enough := rounds["ant"] >= from["ant"]+more && rounds["bee"] >= from["bee"]+more
			mu.Unlock()
			if enough {
				return
			}
			if time.Now().After(deadline) {
				t.Fatal("the members do not go on")
			}
		}
	}
	worked(20)
	if from, to, err := s.Migrate(ctx); from != 1 || to != store.Version() || err != nil {
		t.Fatalf("from %d to %d: %v", from, to, err)
	}
	worked(20)
	cancel()
	members.Wait()
	again, err := store.Open(t.Context(), at(t, dsn))
	must.OK(t, err)
	defer again.Close()
	if list, err := again.Gates(t.Context()); err != nil || len(list) != 20 {
		t.Errorf("%d gates are left: %v", len(list), err)
	}
}
