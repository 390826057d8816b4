//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/ui"
	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/fleet/logs"
	"github.com/belay-run/belay/internal/fleet/member"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
)

// machines makes a fleet with machines that have logs: ant has that of seedRecord, bee has n runs and a clock that is an hour ahead.
func machines(t *testing.T, dsn string, n int) *store.Store {
	t.Helper()
	address, err := store.ParseAddress(dsn, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	seedRecord(t)
	bee := t.TempDir()
	path := filepath.Join(bee, "log.jsonl")
	e := journal.Entry{Timestamp: journal.Time{Time: time.Now().Add(time.Hour - time.Minute)}, Invocation: "run-bee00000", Profile: "claude", Command: "claude",
		Attempt: 1, Status: journal.Success, Usage: json.RawMessage(`{"input_tokens":10,"output_tokens":1,"total_cost_usd":0.5}`)}
	if err := (&journal.Log{Path: path}).Append(e); err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	for i := range n {
		log.Write(bytes.Replace(line, []byte("run-bee00000"), fmt.Appendf(nil, "run-bee%05d", i), 1))
	}
	if err := os.WriteFile(path, log.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"ant": os.Getenv("BELAY_STATE_DIR"), "bee": bee} {
		id, err := s.Join(t.Context(), store.Machine{Name: name, Instance: name, Labels: []string{}})
		if err != nil {
			t.Fatal(err)
		}
		ahead := func() time.Duration { return time.Hour * time.Duration(strings.Index("ant bee", name)/4) }
		if _, err := (&member.Shipper{Store: s, Dir: dir, ID: id, Ahead: ahead}).Ship(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("BELAY_STATE_DIR", filepath.Join(t.TempDir(), "new")) // another machine asks, on which nothing was ever run
	return s
}

func TestFleet_Record(t *testing.T) {
	dsn := fleettest.Database(t)
	network := fleettest.Forward(t, dsn)
	s := machines(t, dsn, 3000)
	t.Setenv("BELAY_FLEET_DSN", network.DSN())
	asked(t, "fleet init", "--keep=10m", "--").is(2, `--keep: "10m" is less than 1h`)
	asked(t, "fleet init", "--keep=30d", "--").is(0, "is up to date")
	if settings, err := s.Settings(t.Context()); err != nil || settings.Keep != 30*24*time.Hour {
		t.Errorf("%+v %v", settings, err)
	}
	asked(t, "stats", "--").is(0, "nothing on record")
	asked(t, "stats", "--machine=ant", "--").is(2, "--machine needs --fleet")
	asked(t, "stats", "--by=machine", "--").is(2, "--by machine needs --fleet")
	asked(t, "stats", "--fleet", "--").is(0, "3,002 runs", "MACHINE", "ant", "bee", "$1500")
	asked(t, "stats", "--fleet", "--machine=ant", "--").is(0, "2 runs")
	asked(t, "stats", "--fleet", "--until="+time.Now().UTC().Format(time.RFC3339), "--").is(0, "3,002 runs") // though bee says that they ended later
	lines := strings.Split(strings.TrimSpace(asked(t, "stats", "--fleet", "--by=machine", "--csv", "--").is(0).stdout), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "machine,invocations") || !strings.HasPrefix(lines[1], "bee,3000,3000,") || !strings.HasPrefix(lines[2], "ant,2,1,") {
		t.Errorf("%q", lines)
	}
	asked(t, "log", "--fleet", "--machine=ant", "--").is(0, "MACHINE", "ant", "aaaaaaaa", "bbbbbbbb", "curl")
	asked(t, "log", "--fleet", "--machine=ant", "--attempts", "--").is(0, "ant", "overloaded")
	asked(t, "log", "--fleet", "--", "aaaaaaaa").is(0, "machine    ant", "attempt 2")
	asked(t, "log", "--fleet", "-n=1", "--json", "--").is(0, `"machine":"ant"`)
	asked(t, "events", "--fleet", "--").is(0, "MACHINE", "ant", "connection reset", "hook:guard")
	asked(t, "events", "--fleet", "--machine=bee", "--").is(0, "no events")
	asked(t, "sessions", "--fleet", "--").is(0, "ant", "3f9c1a52")
	asked(t, "alerts", "--fleet", "--").is(0, "ant")
	asked(t, "audit", "--fleet", "--").is(0, "ant", "gate_hold")
	asked(t, "report", "--fleet", "--format=md", "--machine=ant", "--").is(0, "curl")
	asked(t, "report", "--fleet", "--format=md", "--").is(0, "3002")

	t.Run("Away", func(t *testing.T) {
		network.Cut()
		defer network.Heal()
		a := asked(t, "stats", "--fleet", "--")
		if a.code != 0 || !strings.Contains(a.stdout, "3,002 runs") || !strings.Contains(a.stderr, "cannot reach PostgreSQL at") || !strings.Contains(a.stderr, "This is the fleet as of") {
			t.Errorf("%+v", a)
		}
		t.Setenv("BELAY_STATE_DIR", t.TempDir()) // which knows nothing of it
		asked(t, "stats", "--fleet", "--").is(125, "cannot reach PostgreSQL at")
	})
	t.Run("AnotherFleet", func(t *testing.T) {
		if _, err := s.Pool.Exec(t.Context(), "update belay.setting set value = 'other' where name = 'id'; delete from belay.log_line where machine = 'bee'"); err != nil {
			t.Fatal(err)
		}
		asked(t, "stats", "--fleet", "--").is(0, "2 runs,")
		asked(t, "stats", "--fleet", "--").is(0, "2 runs,")
	})
}

// belay ps and belay gates show what all machines do, and which are not there.
func TestFleet_Now(t *testing.T) {
	dsn := fleettest.Database(t)
	s := machines(t, dsn, 1)
	t.Setenv("BELAY_FLEET_DSN", dsn)
	asked(t, "ps", "--").is(0, "nothing is running")
	asked(t, "gates", "--").is(0, "all gates are healthy")
	id := func(name string) store.Identity {
		id, err := s.Join(t.Context(), store.Machine{Name: name, Instance: name, Labels: []string{}})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	now := time.Now()
	record := func(r supervise.Record) []byte {
		data, err := json.Marshal(member.Run{Record: r, PID: 7})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	waiting := record(supervise.Record{ID: "run-22222222", Command: "claude", Name: "nightly", Started: now.Add(-time.Minute), State: supervise.StateWaiting, Reason: "gate api: on hold"})
	if err := s.PutRuns(t.Context(), id("ant"), []string{"run-22222222"}, map[string][]byte{"run-22222222": waiting}); err != nil {
		t.Fatal(err)
	}
	running := record(supervise.Record{ID: "run-33333333", Command: "make", Started: now.Add(-time.Hour), State: supervise.StateRunning, Attempt: 2})
	if err := s.PutRuns(t.Context(), id("bee"), []string{"run-33333333"}, map[string][]byte{"run-33333333": running}); err != nil {
		t.Fatal(err)
	}
	hold := func(now time.Time, _ store.Gate) (gate.State, int) {
		return gate.State{Hold: gate.Hold{Since: now, Until: now.Add(time.Hour), Reason: "throttled"}}, 0
	}
	if _, err := s.ExchangeGate(t.Context(), id("cat"), "api", hold); err != nil {
		t.Fatal(err)
	}
	asked(t, "ps", "--").is(0, "MACHINE", "ant", "22222222", "nightly", "waiting: gate api: on hold", "bee", "1h", "running, attempt 2")
	asked(t, "ps", "--json", "--").is(0, `"machine":"ant"`, `"pid":7`, `"state":"waiting"`)
	asked(t, "gates", "--").is(0, "GATE", "api", "held", "ant 1", "throttled")
	asked(t, "gates", "--json", "--").is(0, `"key":"api"`, `"waiting":[{"id":"run-22222222","pid":7,"command":"claude","machine":"ant"}]`)
	asked(t, "budget", "--").is(0, "no budgets")
	for name, usd := range map[string]float64{"ant": 1.5, "bee": 2} {
		if _, err := s.ExchangeBudget(t.Context(), id(name), store.Spent{Name: "nightly", Period: "2026-11-17", Limit: 10, USD: usd}); err != nil {
			t.Fatal(err)
		}
	}
	asked(t, "budget", "--").is(0, "BUDGET", "nightly", "2026-11-17", "all", "$3.5000", "ant", "$1.5000", "bee", "$2.0000", "SHARE")
	asked(t, "budget", "--json", "--", "nightly").is(0, `"machine":"bee","spent":2,`)
	asked(t, "budget", "--", "other").is(0, "no budgets")
	if _, err := s.Pool.Exec(t.Context(), "update belay.machine set seen = now() - interval '1 minute' where name = 'bee'"); err != nil {
		t.Fatal(err)
	}
	if a := asked(t, "ps", "--"); a.code != 0 || strings.Contains(a.stdout, "bee") || !strings.Contains(a.stderr, "bee was last seen 1m ago") {
		t.Errorf("%+v", a)
	}
	t.Setenv("BELAY_FLEET_DSN", "host=127.0.0.1 port=1 dbname=x sslmode=disable")
	for _, command := range []string{"ps", "gates", "budget"} {
		asked(t, command, "--").is(125, "cannot reach PostgreSQL at 127.0.0.1:1/x")
	}
}

// shows says that a view has these texts in it, as JSON.
func shows[V any](t *testing.T, ask func(context.Context, url.Values) (V, error), query string, want ...string) {
	t.Helper()
	q, _ := url.ParseQuery(query)
	got, err := ask(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		if !strings.Contains(string(data), w) {
			t.Errorf("%s lacks %s: %s", query, w, data)
		}
	}
}

// belay ui shows all machines, and says so when what it shows is old.
func TestFleet_Page(t *testing.T) {
	dsn := fleettest.Database(t)
	network := fleettest.Forward(t, dsn)
	s := machines(t, dsn, 5)
	opened, err := state.Open("")
	if err != nil {
		t.Fatal(err)
	}
	args, err := request.Parse(stdio.Streams{}, "ui", []string{"--fleet=true", "--dsn=" + network.DSN(), "--"})
	if err != nil {
		t.Fatal(err)
	}
	source, done, err := ui.Source(t.Context(), args, opened)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if err := source.Fold(t.Context()); err != nil {
		t.Fatal(err)
	}
	shows(t, source.Choices, "", `"machines":["ant","bee"]`)
	shows(t, source.Runs, "machine=ant", `"machine":"ant"`, "run-bbbbbbbb")
	shows(t, source.Runs, "machine=cat", `"runs":[]`)
	shows(t, source.Spend, "by=machine&since=1h", `"key":"bee"`, `"key":"ant"`, `"cost_usd":2.5`)
	shows(t, source.Health, "machine=bee&since=1h", `"runs":5`)
	shows(t, source.Story, "id=run-bbbbbbbb", `"machine":"ant"`)
	until := func(what string, so func(view.Now) bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !so(source.Now()); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %+v", what, source.Now())
			}
		}
	}
	until("nothing", func(n view.Now) bool { return n.Fleet && len(n.Runs) == 0 && n.Trouble == "" })
	id, err := s.Join(t.Context(), store.Machine{Name: "ant", Instance: "ant", Labels: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(member.Run{Record: supervise.Record{ID: "run-1", Command: "make", State: supervise.StateRunning}, PID: 7})
	if err := s.PutRuns(t.Context(), id, []string{"run-1"}, map[string][]byte{"run-1": data}); err != nil {
		t.Fatal(err)
	}
	until("a run", func(n view.Now) bool { return len(n.Runs) == 1 && n.Runs[0].Machine == "ant" && n.Runs[0].PID == 7 })
	network.Cut()
	until("away", func(n view.Now) bool {
		return len(n.Runs) == 1 && strings.Contains(n.Trouble, "This is the fleet as of")
	})
	network.Heal()
	until("back", func(n view.Now) bool { return n.Trouble == "" })
	asked(t, "ui", "--dsn=x", "--").is(2, "--dsn needs --fleet")
}

// Several commands that bring the record up to date at the same time, while lines are added, count each line once.
func TestFleet_FoldedAtOnce(t *testing.T) {
	dsn := fleettest.Database(t)
	s := machines(t, dsn, 5100) // three pieces
	dir := os.Getenv("BELAY_STATE_DIR")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			feed, err := logs.NewFeed(t.Context(), s)
			if err != nil {
				t.Error(err)
				return
			}
			d, err := record.OpenFleet(dir, feed)
			if err != nil {
				t.Error(err)
				return
			}
			defer d.Close()
			if _, err := d.Fold(t.Context()); err != nil && !database.Locked(err) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	t.Setenv("BELAY_FLEET_DSN", dsn)
	asked(t, "stats", "--fleet", "--").is(0, "5,102 runs", "5,103 attempts")
}
