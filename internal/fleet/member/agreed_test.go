//go:build unix

package member_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/test/must"
)

// A reset that was made while the member was down counts, on this machine and on others. It used to be undone when the machine joined again.
func TestMember_ResetWhileAway(t *testing.T) {
	t.Parallel()
	list := join(t, "ant", "bee")
	a, b := list[0], list[1]
	reset := func(s gate.State, now time.Time) gate.State { return s.Reset(now) }
	for _, key := range []string{"here", "there", "stays"} {
		a.hold(key, time.Hour)
		eventually(t, "bee knows of "+key, func() bool { return b.held(key) })
	}
	for _, key := range []string{"open here", "open there"} {
		a.change(key, func(s gate.State, now time.Time) gate.State { return s.Opened(now, time.Time{}, "broken") })
		eventually(t, "bee knows of "+key, func() bool { return b.gate(key).Breaker.Phase == breaker.Open })
	}
	must.OK(t, b.leave())
	b.change("here", reset)
	b.change("open here", reset)
	a.change("there", reset)
	a.change("open there", reset)
	b.hold("new", time.Hour)
	b.start()
	eventually(t, "ant knows of what was reset and held on bee", func() bool {
		return !a.held("here") && a.gate("open here").Breaker.Phase == breaker.Closed && a.held("new")
	})
	eventually(t, "bee knows of what was reset on ant", func() bool { return !b.held("there") && b.gate("open there").Breaker.Phase == breaker.Closed })
	// A reset that is undone would reach the other machine before what is held later.
	a.hold("later on ant", time.Hour)
	eventually(t, "bee knows", func() bool { return b.held("later on ant") })
	b.hold("later on bee", time.Hour)
	eventually(t, "ant knows", func() bool { return a.held("later on bee") })
	for _, m := range list {
		if m.held("here") || m.held("there") || !m.held("stays") || !m.held("new") || m.gate("open here").Breaker.Phase != breaker.Closed || m.gate("open there").Breaker.Phase != breaker.Closed {
			t.Errorf("%s: %+v %+v", m.name, m.gate("here"), m.gate("there"))
		}
	}
}

// The database of the fleet is lost and created again. Its members join by themselves, and the gates that they know are there again. They used to be taken for reset.
func TestMember_AllIsLost(t *testing.T) {
	t.Parallel()
	list := join(t, "ant", "bee")
	a, b := list[0], list[1]
	a.hold("api", time.Hour)
	eventually(t, "bee knows", func() bool { return b.held("api") })
	dsn := a.net.DSN()
	database := strings.Fields(strings.SplitAfter(dsn, "dbname=")[1])[0]
	fleettest.Shared(t).Exec(t, database, "drop schema belay cascade")
	for _, m := range list {
		m.says("out of reach")
	}
	address, err := store.ParseAddress(dsn, os.Getenv)
	must.OK(t, err)
	db, err := store.Connect(t.Context(), address)
	must.OK(t, err)
	defer db.Close()
	if _, _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		m.says("the fleet is back")
	}
	b.hold("new", time.Hour)
	eventually(t, "ant knows of what is new", func() bool { return a.held("new") })
	if !a.held("api") || !b.held("api") {
		t.Errorf("a hold is lost: %+v, %+v", a.gate("api").Hold, b.gate("api").Hold)
	}
	eventually(t, "the fleet knows of the hold", func() bool {
		gates, err := db.Gates(t.Context())
		return err == nil && gates["api"].State.Hold.Live(time.Now())
	})
}
