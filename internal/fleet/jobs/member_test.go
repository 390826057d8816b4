//go:build unix

package jobs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// held is for how long a gate is held yet, as the machine's own clock has it; zero if it is not.
func (m *machine) held(key string, clock time.Duration) time.Duration {
	m.t.Helper()
	out, _ := m.run("gates", "--json")
	for text := range strings.Lines(out) {
		var g struct {
			Key   string
			State struct{ Hold struct{ Until time.Time } }
		}
		if json.Unmarshal([]byte(text), &g) == nil && g.Key == key && !g.State.Hold.Until.IsZero() {
			return time.Until(g.State.Hold.Until) - clock
		}
	}
	return 0
}

// A machine whose clock is an hour ahead, and one whose clock is an hour behind, hold for the right time what others have learnt, and the others what they have.
func TestClock_AnHourOff(t *testing.T) {
	if os.Getenv("BELAY_TEST_BIN") != "" {
		t.Skip("BELAY_TEST_BIN has no seam for the clock")
	}
	dsn := fleettest.Database(t)
	clocks := map[string]time.Duration{"ant": 0, "bee": time.Hour, "cow": -time.Hour}
	machines := map[string]*machine{}
	for name, off := range clocks {
		m := newMachine(t, name, dsn)
		file := filepath.Join(m.dir, "clock")
		os.WriteFile(file, []byte(off.String()), 0o600)
		m.more = append(m.more, "BELAY_TEST_CLOCK="+file)
		m.work(0)
		machines[name] = m
	}
	for name, m := range machines {
		if !within(patience, func() bool { return strings.Contains(m.err.String(), "joined") }) {
			t.Fatalf("%s has not joined: %s", name, m.err)
		}
	}
	for from, m := range machines {
		if out, code := m.run("gates", "hold", "of-"+from, "--until", time.Now().Add(clocks[from]+10*time.Minute).Format(time.RFC3339)); code != 0 {
			t.Fatal(out)
		}
		for name, other := range machines {
			var left time.Duration
			if !within(patience, func() bool { left = other.held("of-"+from, clocks[name]); return left > 0 }) || left < 8*time.Minute || left > 10*time.Minute+time.Second {
				t.Errorf("%s holds for %v what %s has learnt", name, left, from)
			}
			if out, code := other.run("run", "--gate", "of-"+from, "--max-wait", "1s", "--", "true"); code != 75 {
				t.Errorf("%s does not wait for what %s has learnt: exit code %d, %s", name, from, code, out)
			}
		}
	}
}

// A member that was frozen for longer than its leases last joins again by itself, with a new generation, and takes part as before.
func TestMember_Frozen(t *testing.T) {
	dsn := fleettest.Database(t)
	ant, bee := newMachine(t, "ant", dsn), newMachine(t, "bee", dsn)
	database := dsn[strings.LastIndex(dsn, "=")+1:]
	for _, m := range []*machine{ant, bee} {
		m.work(0)
		if !within(patience, func() bool { return strings.Contains(m.err.String(), "joined") }) {
			t.Fatalf("%s has not joined: %s", m.name, m.err)
		}
	}
	generation := func() (n int64) {
		out, _ := ant.run("fleet", "status", "--json")
		for text := range strings.Lines(out) {
			var m struct {
				Name       string
				Generation int64
			}
			if json.Unmarshal([]byte(text), &m) == nil && m.Name == "bee" {
				n = m.Generation
			}
		}
		return n
	}
	before := generation()
	bee.signal(syscall.SIGSTOP)
	fleettest.Shared(t).Exec(t, database, "update belay.machine set seen = now() - interval '31 seconds' where name = 'bee'") // the time that it sleeps
	if out, code := ant.run("gates", "hold", "api", "--until", "10m"); code != 0 {
		t.Fatal(out)
	}
	bee.signal(syscall.SIGCONT)
	if !within(patience, func() bool { return generation() > before }) {
		t.Fatalf("it is still of generation %d: %s", before, bee.err)
	}
	if !within(patience, func() bool { return bee.held("api", 0) > 0 }) {
		t.Errorf("it does not know what was learnt meanwhile: %s", bee.err)
	}
	if out, code := bee.run("gates", "hold", "other", "--until", "10m"); code != 0 {
		t.Fatal(out)
	}
	if !within(patience, func() bool { return ant.held("other", 0) > 0 }) {
		t.Errorf("the others do not hear of it: %s", bee.err)
	}
	if n := strings.Count(fmt.Sprint(bee.err), "out of reach"); n > 0 {
		t.Errorf("it says that the fleet was out of reach: %s", bee.err)
	}
}
