//go:build unix

package member_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/test/must"
)

// stranger makes a role that may connect to the database of a machine and has no other right, and returns what it says with pg_notify.
func stranger(t *testing.T, m *machine) (notify func(channel, payload string)) {
	t.Helper()
	server := fleettest.Shared(t)
	server.Exec(t, "postgres", "do $$ begin create role stranger login; exception when duplicate_object or unique_violation then null; end $$")
	conn, err := pgx.Connect(t.Context(), strings.Replace(m.net.DSN(), "user=belay", "user=stranger", 1))
	must.OK(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), "update belay.gate set state = null"); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Fatalf("the stranger may do too much: %v", err)
	}
	return func(channel, payload string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), "select pg_notify($1, $2)", channel, payload); err != nil {
			t.Fatal(err)
		}
	}
}

// Any role that can connect to the database can send notes. They set no hold, lift none, keep no later one out and leave no files: at worst the members look at the tables.
func TestMember_NotesAreNotBelieved(t *testing.T) {
	t.Parallel()
	list := join(t, "ant", "bee")
	a, b := list[0], list[1]
	notify := stranger(t, a)
	a.hold("real", time.Hour)
	eventually(t, "bee knows of the hold", func() bool { return b.held("real") })
	notify("belay", `{"kind":"gate","key":"\u0000"}`)
	a.hold("real", 90*time.Minute)
	until90 := a.gate("real").Hold.Until
	eventually(t, "bee knows of another hold", func() bool { return b.gate("real").Hold.Until.Equal(until90) })
	for _, payload := range []string{"", "{", `{"kind":"gate"}`, `{"kind":"slot","machine":"cat","key":"x"}`, `{"kind":"slot-free"}`, `{"kind":"budget","key":"\u0000"}`, `{"kind":"machine"}`, `{"kind":"other","key":"x"}`} {
		notify("belay", payload)
	}
	since, until := time.Now().UTC().Format(time.RFC3339), time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for i := range 200 {
		notify("belay", fmt.Sprintf(`{"kind":"gate","machine":"cat","key":"forged%d","version":99,"state":{"hold":{"since":%q,"until":%q,"manual":true}}}`, i, since, until))
	}
	for _, key := range []string{"real", "later"} {
		notify("belay", fmt.Sprintf(`{"kind":"gate","machine":"cat","key":%q,"version":1999999999,"state":{}}`, key))
	}
	// Notes arrive in their order: once the members know of this hold, they have acted on all that came before.
	a.hold("later", time.Hour)
	eventually(t, "bee knows of a later hold", func() bool { return b.held("later") })
	a.change("real", func(s gate.State, now time.Time) gate.State { return s.Held(now, now.Add(2*time.Hour), "longer") })
	eventually(t, "bee knows of the longer hold", func() bool { return b.gate("real").Hold.Reason == "longer" })
	for _, m := range list {
		entries, err := m.state.Gates().List()
		must.OK(t, err)
		for _, e := range entries {
			if e.Key != "real" && e.Key != "later" || !e.State.Hold.Live(time.Now()) {
				t.Errorf("%s has %s: %+v", m.name, e.Key, e.State)
			}
		}
		if len(entries) != 2 || strings.Contains(m.heard(), "out of reach") {
			t.Errorf("%s has %d gates: %s", m.name, len(entries), m.heard())
		}
	}
}
