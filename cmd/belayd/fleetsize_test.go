//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/fleet/logs"
	"github.com/belay-run/belay/internal/fleet/member"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/test/must"
)

// TestFleet_Size measures what docs/fleet.md says of sizes. It runs if BELAY_FLEET_LINES says with how many lines a machine.
func TestFleet_Size(t *testing.T) {
	lines, _ := strconv.Atoi(os.Getenv("BELAY_FLEET_LINES"))
	if lines == 0 {
		t.Skip("BELAY_FLEET_LINES is not set")
	}
	const machines = 20
	address, err := store.ParseAddress(fleettest.Database(t), os.Getenv)
	must.OK(t, err)
	s, err := store.Open(t.Context(), address)
	must.OK(t, err)
	defer s.Close()
	var logged int64
	shipped := time.Duration(0)
	for m := range machines {
		dir, name := t.TempDir(), fmt.Sprintf("build-%02d", m)
		path := filepath.Join(dir, "log.jsonl")
		zero := 0
		for i := range lines {
			e := journal.Entry{Timestamp: journal.Time{Time: time.Now().Add(time.Duration(i-lines) * time.Second)}, Invocation: fmt.Sprintf("20261117T040000-%s-%08x", name, i), Profile: "claude", Command: "claude",
				Attempt: 1, Status: journal.Success, BelayCode: &zero, ResponseTime: 12.345678, FirstToken: 1.234, Session: fmt.Sprintf("3f9c1a52-8f0e-4b5a-9d43-%012x", i), Model: "claude-opus-4-5-20251101",
				Requests: 3, Gate: "claude:5f0c9a3e", CPUTime: 1.5, Project: "/home/ann/src/project", Name: "nightly", Provider: "anthropic", PromptHash: "sha256:2c26b46b68ffc68ff99b453c1d304134",
				Usage: []byte(`{"input_tokens":1200,"output_tokens":340,"cache_read_input_tokens":51000,"cache_creation_input_tokens":900,"total_cost_usd":0.2534}`),
				Tools: []journal.Tool{{Name: "Bash", Count: 3, Time: 0.5}, {Name: "Read", Count: 7, Time: 0.1}}}
			must.OK(t, (&journal.Log{Path: path}).Append(e))
		}
		info, err := os.Stat(path)
		must.OK(t, err)
		logged += info.Size()
		id, err := s.Join(t.Context(), store.Machine{Name: name, Instance: name, Labels: []string{}})
		must.OK(t, err)
		began := time.Now()
		if n, err := (&member.Shipper{Store: s, Dir: dir, ID: id}).Ship(t.Context()); n != lines || err != nil {
			t.Fatal(n, err)
		}
		shipped += time.Since(began)
	}
	var table, indexes int64
	must.OK(t, s.Pool.QueryRow(t.Context(), "select pg_table_size('belay.log_line'), pg_indexes_size('belay.log_line')").Scan(&table, &indexes))
	all := int64(lines * machines)
	t.Logf("%d lines: %d bytes a line in the log, %d in the table, %d in its indexes; shipped %.0f lines a second", all, logged/all, table/all, indexes/all, float64(all)/shipped.Seconds())
	feed, err := logs.NewFeed(t.Context(), s)
	must.OK(t, err)
	dir := t.TempDir()
	d, err := record.OpenFleet(dir, feed)
	must.OK(t, err)
	defer d.Close()
	for _, what := range []string{"all", "nothing new"} {
		began := time.Now()
		sum, err := d.Fold(t.Context())
		must.OK(t, err)
		t.Logf("folded %s: %d lines in %v", what, sum.Lines, time.Since(began).Round(time.Millisecond))
	}
	info, err := os.Stat(d.Path())
	must.OK(t, err)
	t.Logf("%s has %d bytes a line", record.FleetName, info.Size()/all)
	if _, err := s.Pool.Exec(t.Context(), "update belay.log_line set added = now() - interval '100 days'"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	n, err := s.PruneLog(t.Context(), store.DefaultKeep)
	t.Logf("removed %d lines in %v: %v", n, time.Since(began).Round(time.Millisecond), err)
}
