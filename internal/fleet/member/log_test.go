//go:build unix

package member_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/fleet/member"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record/logfile"
	"github.com/belay-run/belay/internal/test/must"
)

// shipVar makes the test binary a process that ships the log of the state directory it names, until it is killed.
const shipVar, shipDSN, shipGeneration = "MEMBER_TEST_SHIP", "MEMBER_TEST_DSN", "MEMBER_TEST_GENERATION"

// shipForever is that process.
func shipForever(dir, dsn string) {
	generation, _ := strconv.ParseInt(os.Getenv(shipGeneration), 10, 64)
	id := store.Identity{Name: "ant", Generation: generation}
	for ctx := context.Background(); ; {
		a, err := store.ParseAddress(dsn, os.Getenv)
		if err != nil {
			panic(err)
		}
		if s, err := store.Open(ctx, a); err == nil {
			m := member.Shipper{Store: s, Dir: dir, ID: id}
			for err == nil {
				short, cancel := context.WithTimeout(ctx, 2*time.Second)
				_, err = m.Ship(short)
				cancel()
				time.Sleep(time.Millisecond)
			}
			s.Close()
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// open opens a fleet, which the machine ant joins.
func open(t testing.TB, dsn string) (*store.Store, store.Identity) {
	t.Helper()
	a, err := store.ParseAddress(dsn, os.Getenv)
	must.OK(t, err)
	s, err := store.Open(t.Context(), a)
	must.OK(t, err)
	t.Cleanup(s.Close)
	id, err := s.Join(t.Context(), store.Machine{Name: "ant", Instance: "x", Labels: []string{}})
	must.OK(t, err)
	return s, id
}

// state is a state directory with a log.
type state struct {
	testing.TB
	dir string
	n   int
}

func (s *state) log() string { return filepath.Join(s.dir, "log.jsonl") }

// run puts runs on record, as belay run does.
func (s *state) run(n int) {
	s.Helper()
	for range n {
		e := journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Invocation: fmt.Sprintf("run-%06d", s.n), Profile: "p", Command: "p", Attempt: 1, Status: journal.Success}
		if err := (&journal.Log{Path: s.log()}).Append(e); err != nil {
			s.Fatal(err)
		}
		s.n++
	}
}

// text appends raw text.
func (s *state) text(text string) {
	s.Helper()
	f, err := os.OpenFile(s.log(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		f.Close()
	}
	if err != nil {
		s.Fatal(err)
	}
}

// aside moves the log aside, as belay prune does.
func (s *state) aside(name string) {
	s.Helper()
	if err := os.Rename(s.log(), s.log()+"."+name); err != nil {
		s.Fatal(err)
	}
}

// files is all that the log has, by the identities of its files.
func (s *state) files() map[string]string {
	s.Helper()
	all := map[string]string{}
	files, _, err := logfile.Files(s.dir)
	if err != nil {
		s.Fatal(err)
	}
	paths, _ := filepath.Glob(s.log() + ".*")
	for i, path := range append(paths, s.log()) {
		data, err := os.ReadFile(path)
		if err != nil {
			s.Fatal(err)
		}
		all[files[i].Identity()] = strings.TrimSuffix(string(data), "\n")
		files[i].Close()
	}
	return all
}

// shipped is what PostgreSQL has of a machine, in the same form.
func shipped(t testing.TB, s *store.Store) map[string]string {
	t.Helper()
	positions, err := s.LogPositions(t.Context(), "ant")
	must.OK(t, err)
	all := map[string]string{}
	for _, p := range positions {
		var lines [][]byte
		end := p.Position
		for p.Position = 0; p.Position < end; {
			list, to, err := s.LogLines(t.Context(), []store.LogPosition{p}, 1000)
			must.OK(t, err)
			for _, l := range list[0] {
				lines = append(lines, l.Text)
			}
			p.Position = to[0]
		}
		all[p.Identity] = string(bytes.Join(lines, []byte("\n")))
	}
	return all
}

// same compares what is in PostgreSQL with the files.
func same(t testing.TB, s *state, db *store.Store) {
	t.Helper()
	want, got := s.files(), shipped(t, db)
	for identity, text := range want {
		if got[identity] != text {
			t.Errorf("of file %s there are %d bytes, not %d: %.300q", identity, len(got[identity]), len(text), got[identity])
		}
	}
	if len(got) != len(want) {
		t.Errorf("there are %d files, not %d", len(got), len(want))
	}
}

func TestShip(t *testing.T) {
	fleet, id := open(t, fleettest.Database(t))
	s := &state{TB: t, dir: t.TempDir()}
	m := &member.Shipper{Store: fleet, Dir: s.dir, ID: id}
	ship := func(want int) {
		t.Helper()
		if n, err := m.Ship(t.Context()); n != want || err != nil {
			t.Fatalf("shipped %d lines, not %d: %v", n, want, err)
		}
	}
	ship(0)
	s.run(3)
	ship(3)
	ship(0)
	s.text(`{"timestamp":"2026-11-17T04:00:00.000Z","invo`) // a writer was killed
	ship(0)
	s.run(1) // stands behind it
	ship(1)
	s.aside("1")
	s.run(2)
	m.ID.Generation--
	if _, err := m.Ship(t.Context()); err == nil {
		t.Error("a member whose generation is another one has shipped")
	}
	m.ID = id
	ship(2)
	other := &member.Shipper{Store: fleet, Dir: s.dir, ID: id}
	s.run(4)
	if n, err := other.Ship(t.Context()); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	ship(0)
	same(t, s, fleet)

	t.Run("ChangedByHand", func(t *testing.T) {
		data, _ := os.ReadFile(s.log())
		lines := bytes.SplitAfter(data, []byte("\n"))
		lines[3] = []byte(strings.Replace(string(lines[3]), `"p"`, `"quince"`, 1))
		must.OK(t, os.WriteFile(s.log(), bytes.Join(lines[:5], nil), 0o600))
		ship(5)
		ship(0)
		same(t, s, fleet)
	})
	t.Run("LostByPostgreSQL", func(t *testing.T) { // a fail-over to a server that has not got the last transactions
		s.run(2)
		before := shipped(t, fleet)
		ship(2)
		positions, _ := fleet.LogPositions(t.Context(), "ant")
		last := positions[len(positions)-1]
		at := last.Position - int64(len(s.files()[last.Identity])-len(before[last.Identity]))
		f, _, _ := logfile.Files(s.dir)
		tail, _ := f[len(f)-1].Tail(at)
		if _, err := fleet.Pool.Exec(t.Context(), "update belay.log_position set position = $1, tail = $2 where identity = $3", at, tail, last.Identity); err != nil {
			t.Fatal(err)
		}
		if _, err := fleet.Pool.Exec(t.Context(), "delete from belay.log_line where identity = $1 and position >= $2", last.Identity, at); err != nil {
			t.Fatal(err)
		}
		s.run(1)
		ship(3)
		same(t, s, fleet)
	})
}

// Old lines are not shipped, nor are credentials that another version has left in the log.
func TestShip_Leaves(t *testing.T) {
	fleet, id := open(t, fleettest.Database(t))
	s := &state{TB: t, dir: t.TempDir()}
	s.text(`{"timestamp":"2020-01-01T00:00:00.000Z","invocation":"old","status":"success"}` + "\n")
	s.run(1)
	s.text(`{"timestamp":"` + time.Now().UTC().Format("2006-01-02T15:04:05.000Z") + `","invocation":"run-x","profile":"p","status":"error","error":"no access with ghp_0123456789abcdefghijABCDEFGHIJ012345"}` + "\n")
	m := &member.Shipper{Store: fleet, Dir: s.dir, ID: id, Keep: time.Hour}
	if n, err := m.Ship(t.Context()); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	for _, text := range shipped(t, fleet) {
		if strings.Contains(text, "old") || strings.Contains(text, "ghp_") || !strings.Contains(text, "run-000000") || !strings.Contains(text, "run-x") {
			t.Errorf("%s", text)
		}
	}
}

func TestPruneLog(t *testing.T) {
	fleet, id := open(t, fleettest.Database(t))
	s := &state{TB: t, dir: t.TempDir()}
	m := &member.Shipper{Store: fleet, Dir: s.dir, ID: id}
	s.run(20)
	if _, err := m.Ship(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := fleet.Pool.Exec(t.Context(), "update belay.log_line set added = now() - interval '2 days' where seq <= (select min(seq) + 11 from belay.log_line)"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{12, 0} {
		if n, err := fleet.PruneLog(t.Context(), 24*time.Hour); n != want || err != nil {
			t.Errorf("call %d has removed %d lines, not %d: %v", i, n, want, err)
		}
	}
	s.run(1)
	if n, err := m.Ship(t.Context()); n != 1 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	for _, text := range shipped(t, fleet) {
		if n := strings.Count(text, "\n") + 1; n != 9 {
			t.Errorf("%d lines are left", n)
		}
	}
}

// Whatever is killed, cut off or moved aside: each line is in PostgreSQL exactly once. Each fault comes twice or more; for as long as
// BELAY_TEST_SHIP_SECONDS says, more come in random order.
func TestShip_ExactlyOnce(t *testing.T) {
	server, err := fleettest.Start() // this one is killed
	if err != nil {
		fleettest.Shared(t) // which knows whether that is a failure
		t.Fatal(err)
	}
	defer server.Close()
	address, err := store.ParseAddress(server.DSN("postgres"), os.Getenv)
	must.OK(t, err)
	made, err := store.Connect(t.Context(), address)
	must.OK(t, err)
	if _, _, err := made.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	made.Close()
	_, id := open(t, server.DSN("postgres"))
	network := fleettest.Forward(t, server.DSN("postgres"))
	s := &state{TB: t, dir: t.TempDir()}
	seconds, _ := strconv.Atoi(os.Getenv("BELAY_TEST_SHIP_SECONDS"))
	shippers := make([]*exec.Cmd, 2)
	start := func(i int) {
		shippers[i] = exec.Command(os.Args[0])
		shippers[i].Env = append(os.Environ(), shipVar+"="+s.dir, shipDSN+"="+network.DSN(), fmt.Sprintf("%s=%d", shipGeneration, id.Generation), "GORACE=atexit_sleep_ms=0")
		shippers[i].Stderr = os.Stderr
		must.OK(t, shippers[i].Start())
	}
	kill := func(i int) {
		shippers[i].Process.Kill()
		shippers[i].Wait()
	}
	for i := range shippers {
		start(i)
		t.Cleanup(func() { kill(i) })
	}
	moved, happened, random := 0, map[string]int{}, faulttest.Random(t)
	usual := []int{0, 3, 6, 5, 7, 8, 9, 4, 1, 6, 8, 2, 5, 7, 0, 3}
	for n, until := 0, time.Now().Add(time.Duration(seconds)*time.Second); n < len(usual) || time.Now().Before(until); n++ {
		s.run(random.IntN(200))
		time.Sleep(faulttest.N(random, 20*time.Millisecond))
		what, kind := "", random.IntN(12)
		if n < len(usual) {
			kind = usual[n]
		}
		switch kind {
		case 0, 1, 2:
			what = "killed"
			i := random.IntN(len(shippers))
			kill(i)
			start(i)
		case 3, 4:
			what = "cut"
			network.Cut()
			s.run(random.IntN(20))
			network.Heal()
		case 5:
			what = "black hole"
			network.BlackHole()
			s.run(random.IntN(20))
			time.Sleep(faulttest.N(random, 50*time.Millisecond))
			if random.IntN(2) == 0 {
				network.Cut()
			}
			network.Heal()
		case 6:
			what = "moved"
			s.run(1) // without a line since the last time there would be no file
			s.aside(strconv.Itoa(1000 + moved))
			moved++
		case 7:
			what = "torn"
			s.text(`{"timestamp":"2026-11-17T04:00:00.000Z","invo`)
		case 8:
			if happened["restarted"] <= moved/2 { // a start takes a while
				what = "restarted"
				server.Stop([]syscall.Signal{syscall.SIGKILL, syscall.SIGQUIT, syscall.SIGINT}[random.IntN(3)])
				must.OK(t, server.Resume())
			}
		}
		happened[what]++
	}
	for i := range shippers {
		kill(i)
	}
	s.run(1)
	fleet, id := open(t, server.DSN("postgres"))
	if _, err := (&member.Shipper{Store: fleet, Dir: s.dir, ID: id}).Ship(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, s, fleet)
	t.Logf("%d lines tried, %v; each is there once", s.n, happened)
}

// A member ships what is logged on its machine, also what was logged while it was not there or could not reach PostgreSQL.
func TestMember_Log(t *testing.T) {
	dsn := fleettest.Database(t)
	m := newMachine(t, dsn, "ant")
	must.OK(t, m.state.Prepare())
	s := &state{TB: t, dir: m.state.Dir}
	s.run(2)
	address, err := store.ParseAddress(dsn, os.Getenv)
	must.OK(t, err)
	fleet, err := store.Open(t.Context(), address)
	must.OK(t, err)
	defer fleet.Close()
	lines := func(n int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d lines are there", n), func() bool {
			var there int
			return fleet.Pool.QueryRow(t.Context(), "select count(*) from belay.log_line where machine = 'ant'").Scan(&there) == nil && there == n
		})
	}
	m.start()
	lines(2)
	s.run(1)
	lines(3)
	m.net.Cut()
	s.run(5)
	m.says("out of reach")
	m.net.Heal()
	lines(8)
	s.run(1)
	m.leave() // ships the rest
	same(t, s, fleet)
	if text := m.heard(); strings.Contains(text, "the log") {
		t.Errorf("it says %s", text)
	}
}
