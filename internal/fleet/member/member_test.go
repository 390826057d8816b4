//go:build unix

package member_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/fleet/member"
	"github.com/belay-run/belay/internal/fleet/store"
	statedir "github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/test/must"
)

// patience is how long anything may take that takes a moment on an idle machine.
const patience = 90 * time.Second

// belay builds the command once.
var belay = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "belay-fleet-")
	if err != nil {
		return "", err
	}
	fleettest.Later(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "belay"), built.Into(dir, built.Belay)
})

// machine is a state directory whose member reaches PostgreSQL through a network of its own.
type machine struct {
	t     *testing.T
	name  string
	state *statedir.State
	net   *fleettest.Forwarder
	role  string // in place of belay

	mu    sync.Mutex
	said  []string
	stop  context.CancelFunc
	ended chan error
}

// newMachine makes a machine that has not joined.
func newMachine(t *testing.T, dsn, name string) *machine {
	t.Helper()
	return &machine{t: t, name: name, state: &statedir.State{Dir: filepath.Join(t.TempDir(), name)}, net: fleettest.Forward(t, dsn)}
}

// join makes machines of a new fleet, all of which have joined.
func join(t *testing.T, names ...string) (list []*machine) {
	t.Helper()
	dsn := fleettest.Database(t)
	for _, name := range names {
		m := newMachine(t, dsn, name)
		m.start()
		list = append(list, m)
	}
	for _, m := range list {
		m.says("joined the fleet")
	}
	return list
}

// start has the machine join.
func (m *machine) start() {
	m.t.Helper()
	dsn := m.net.DSN()
	if m.role != "" {
		dsn = strings.Replace(dsn, "user=belay", "user="+m.role, 1)
	}
	address, err := store.ParseAddress(dsn, os.Getenv)
	must.OK(m.t, err)
	ctx, stop := context.WithCancel(context.Background())
	m.stop, m.ended = stop, make(chan error, 1)
	one := &member.Member{Name: m.name, State: m.state, Address: address, Version: "test", Say: m.say}
	ended := m.ended
	go func() {
		err := one.Run(ctx)
		for err != nil && strings.Contains(err.Error(), "cannot reach PostgreSQL") && ctx.Err() == nil { // a busy machine takes its time
			err = one.Run(ctx)
		}
		ended <- err
	}()
	m.t.Cleanup(func() {
		stop()
		<-ended
	})
}

// leave has the machine leave, and waits until it has.
func (m *machine) leave() error {
	m.stop()
	err := <-m.ended
	m.ended <- nil
	return err
}

func (m *machine) say(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.said = append(m.said, text)
}

// heard is what the member has said.
func (m *machine) heard() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.said, "\n")
}

// says waits until the member has said so.
func (m *machine) says(text string) {
	m.t.Helper()
	eventually(m.t, m.name+" says "+text, func() bool { return strings.Contains(m.heard(), text) })
}

// eventually waits until something is so. It looks less and less often, since a look may be a question to PostgreSQL.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline, pause := time.Now().Add(patience), 2*time.Millisecond; !so(); pause = min(2*pause, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		time.Sleep(pause)
	}
}

// gate is the state of a gate, as the machine's runs see it.
func (m *machine) gate(key string) gate.State {
	m.t.Helper()
	s, err := m.state.Gates().Load(key)
	must.OK(m.t, err)
	return s
}

// change changes a gate of the machine, as one of its runs would.
func (m *machine) change(key string, change func(gate.State, time.Time) gate.State) {
	m.t.Helper()
	now := time.Now()
	must.OK(m.t, m.state.Gates().Update(key, now, func(s gate.State) gate.State { return change(s, now) }))
}

func (m *machine) hold(key string, d time.Duration) {
	m.t.Helper()
	m.change(key, func(s gate.State, now time.Time) gate.State { return s.Held(now, now.Add(d), "limit") })
}

func (m *machine) held(key string) bool { return m.gate(key).Hold.Live(time.Now()) }

// command is belay on this machine.
func (m *machine) command(args ...string) *exec.Cmd {
	m.t.Helper()
	path, err := belay()
	must.OK(m.t, err)
	cmd := exec.Command(path, args...)
	cmd.Dir = m.t.TempDir()
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "BELAY_") || strings.HasPrefix(e, "XDG_") }),
		"BELAY_STATE_DIR="+m.state.Dir, "XDG_CONFIG_HOME="+m.state.Dir, "BELAY_FOLD=off")
	return cmd
}

// A hold, an open breaker and a reset reach the other machines, both ways.
func TestMember_GatesReachAllMachines(t *testing.T) {
	t.Parallel()
	list := join(t, "ant", "bee", "cat")
	a, b, c := list[0], list[1], list[2]
	a.hold("api", time.Hour)
	for _, m := range list {
		eventually(t, m.name+" knows of the hold", func() bool { return m.held("api") })
	}
	if got, want := c.gate("api").Hold, a.gate("api").Hold; !got.Until.Equal(want.Until) || got.Reason != "limit" || !got.Manual {
		t.Errorf("%+v became %+v", want, got)
	}
	b.change("api", func(s gate.State, now time.Time) gate.State { return s.Reset(now) })
	for _, m := range list {
		eventually(t, m.name+" knows of the reset", func() bool { return !m.held("api") })
	}
	eventually(t, "no file is left", func() bool {
		entries, err := a.state.Gates().List()
		return err == nil && len(entries) == 0
	})
	c.change("api", func(s gate.State, now time.Time) gate.State { return s.Opened(now, time.Time{}, "broken") })
	for _, m := range list {
		eventually(t, m.name+" knows of the breaker", func() bool { return m.gate("api").Breaker.Phase == breaker.Open })
	}
	// A failure counts once in the fleet, and five in a row on different machines open.
	for i, m := range []*machine{a, b, c, a, b} {
		pass, refused := (&gate.Gate{Store: m.state.Gates(), Key: "row"}).Enter(fmt.Sprint("call", i))
		if refused != nil {
			t.Fatal(refused)
		}
		pass.Failed("broken")
		eventually(t, "all know of the failure", func() bool {
			return !slices.ContainsFunc(list, func(m *machine) bool {
				s := m.gate("row").Breaker
				return s.Failures != i+1 && !(i == 4 && s.Phase == breaker.Open)
			})
		})
	}
}

// How long it takes until the next start on another machine is held. The time is printed, and held to what is promised only in make soak: the tests
// of other packages may take all of the machine for seconds.
func TestMember_HoldsReachAllWithinASecond(t *testing.T) {
	var names []string
	for i := range faulttest.Count(t, "BELAY_TEST_MEMBERS", 2) {
		names = append(names, fmt.Sprintf("ant%02d", i))
	}
	list := join(t, names...)
	var took []time.Duration
	holds := faulttest.Count(t, "BELAY_TEST_HOLDS", 5)
	for i := range holds {
		key := fmt.Sprint("api", i)
		begun := time.Now()
		list[i%len(list)].hold(key, time.Hour)
		var all sync.WaitGroup
		arrived := make([]time.Duration, len(list))
		for n, m := range list {
			all.Go(func() {
				eventually(t, m.name+" knows", func() bool { return m.held(key) })
				arrived[n] = time.Since(begun)
			})
		}
		all.Wait()
		took = append(append(took, arrived[:i%len(list)]...), arrived[i%len(list)+1:]...)
	}
	slices.Sort(took)
	median, most := took[len(took)/2], took[len(took)-1]
	t.Logf("tried %d holds: one reaches the other machines after %v (median), %v at most", holds, median, most)
	if median > time.Second && os.Getenv("BELAY_TEST_SOAK") != "" {
		t.Errorf("half of them take more than %v", median)
	}
}
