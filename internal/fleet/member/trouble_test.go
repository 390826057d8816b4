//go:build unix

package member_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/test/must"
)

// PostgreSQL is cut off, loses everything without a word, is slow, and comes back each time: what was learnt meanwhile on both sides is then known to both, and it was said once
// that the fleet was out of reach.
func TestMember_PostgreSQLAway(t *testing.T) {
	t.Parallel()
	list := join(t, "ant", "bee")
	a, b := list[0], list[1]
	for i, break_ := range []func(){a.net.Cut, a.net.BlackHole} {
		here, there := fmt.Sprint("here", i), fmt.Sprint("there", i)
		break_()
		a.hold(here, time.Hour)
		eventually(t, "ant says that the fleet is away", func() bool { return strings.Count(a.heard(), "out of reach") == i+1 })
		b.hold(there, time.Hour)
		if a.held(there) || b.held(here) {
			t.Error("they still know of each other")
		}
		a.net.Heal()
		eventually(t, "ant says that it is back", func() bool { return strings.Count(a.heard(), "the fleet is back") == i+1 })
		eventually(t, "both know of both", func() bool { return a.held(there) && b.held(here) })
	}
	a.net.Delay(100 * time.Millisecond)
	b.hold("slow", time.Hour)
	eventually(t, "it is slow, and works", func() bool { return a.held("slow") })
}

// PostgreSQL is restarted, and killed. Not in parallel: it is everybody's.
func TestMember_PostgreSQLRestarts(t *testing.T) {
	list := join(t, "ant", "bee")
	server := fleettest.Shared(t)
	for i, with := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		server.Stop(with)
		key := fmt.Sprint("api", i)
		list[0].hold(key, time.Hour)
		must.OK(t, server.Resume())
		eventually(t, "bee knows", func() bool { return list[1].held(key) })
	}
}

// What PostgreSQL refuses again and again is said once, and tried again after growing pauses. Once it is allowed, all is as before.
func TestMember_LastingError(t *testing.T) {
	t.Parallel()
	dsn := fleettest.Database(t)
	server, database := fleettest.Shared(t), dsn[strings.LastIndex(dsn, "=")+1:]
	server.Exec(t, database, `create role limited login; grant usage on schema belay to limited; grant select, insert, update, delete on all tables in schema belay to limited;
grant usage on all sequences in schema belay to limited`)
	t.Cleanup(func() { server.Exec(t, database, "drop owned by limited; drop role limited") })
	a, b := newMachine(t, dsn, "ant"), newMachine(t, dsn, "bee")
	a.role = "limited"
	for _, m := range []*machine{a, b} {
		m.start()
		m.says("joined")
	}
	joins := func() int { return server.Count(t, database, "select last_value from belay.generation") }
	server.Exec(t, database, "revoke insert, update on belay.gate from limited")
	before := joins()
	a.hold("api", time.Hour)
	a.says("out of reach")
	eventually(t, "ant tries again", func() bool { return joins() >= before+4 })
	if said := a.heard(); strings.Count(said, "out of reach") != 1 || strings.Contains(said, "the fleet is back") || !strings.Contains(said, "permission denied") {
		t.Errorf("%s", said)
	}
	server.Exec(t, database, "grant insert, update on belay.gate to limited")
	eventually(t, "bee knows of the hold", func() bool { return b.held("api") })
}

// A copy of a state directory is refused under the name of the machine that it was copied from, which takes part as before.
func TestMember_Copy(t *testing.T) {
	t.Parallel()
	dsn := fleettest.Database(t)
	a, other := newMachine(t, dsn, "ant"), newMachine(t, dsn, "ant")
	a.start()
	a.says("joined")
	instance, err := os.ReadFile(filepath.Join(a.state.Dir, "fleet-instance"))
	must.OK(t, err)
	os.MkdirAll(other.state.Dir, 0o700)
	must.OK(t, os.WriteFile(filepath.Join(other.state.Dir, "fleet-instance"), instance, 0o600))
	other.start()
	if err := <-other.ended; !errors.Is(err, store.ErrNameTaken) || !strings.Contains(err.Error(), "copy of this state directory") {
		t.Errorf("%v", err)
	}
	other.ended <- nil
	if said := a.heard(); strings.Contains(said, "out of reach") || strings.Count(said, "joined") != 1 {
		t.Errorf("%s", said)
	}
	// One that has died, with the machine that it ran on or without it, is not in the way.
	must.OK(t, a.leave())
	other.start()
	other.says("joined")
}

// A machine is refused under a name that another one has, and takes its place when that is gone. One state directory has one member.
func TestMember_Names(t *testing.T) {
	t.Parallel()
	dsn := fleettest.Database(t)
	a := newMachine(t, dsn, "ant")
	a.start()
	a.says("joined")
	other := newMachine(t, dsn, "ant")
	other.start()
	if err := <-other.ended; !errors.Is(err, store.ErrNameTaken) || !strings.Contains(err.Error(), "--name") {
		t.Errorf("another machine: %v", err)
	}
	other.ended <- nil
	again := newMachine(t, dsn, "bee")
	again.state = a.state
	again.start()
	if err := <-again.ended; err == nil || !strings.Contains(err.Error(), "already running") {
		t.Errorf("a second member: %v", err)
	}
	again.ended <- nil
	if err := a.leave(); err != nil || !strings.Contains(a.heard(), "has left") {
		t.Errorf("%v\n%s", err, a.heard())
	}
	other.start()
	other.says("joined")
}

// A machine that is drained leaves; one that has left can be removed, and one that is there cannot.
func TestMember_DrainAndRemove(t *testing.T) {
	t.Parallel()
	m := join(t, "ant")[0]
	address, err := store.ParseAddress(m.net.DSN(), os.Getenv)
	must.OK(t, err)
	s, err := store.Open(t.Context(), address)
	must.OK(t, err)
	defer s.Close()
	if err := s.Remove(t.Context(), "ant"); err == nil || !strings.Contains(err.Error(), "belay fleet drain ant") {
		t.Errorf("%v", err)
	}
	if err := s.Drain(t.Context(), "bee"); err == nil || !strings.Contains(err.Error(), "belay fleet status") {
		t.Errorf("%v", err)
	}
	must.OK(t, s.Drain(t.Context(), "ant"))
	if err := <-m.ended; err != nil {
		t.Error(err)
	}
	m.ended <- nil
	if err := s.Remove(t.Context(), "ant"); err != nil {
		t.Error(err)
	}
	if list, err := s.Machines(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
}
