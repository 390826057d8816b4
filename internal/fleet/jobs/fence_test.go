//go:build unix

package jobs

import (
	"slices"
	"testing"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/test/must"
)

// What a machine reports of a job that it has lost is refused by its fencing number, whether the next attempt is waiting for a machine, under way or over.
func TestBatcher_StaleReportIsRefused(t *testing.T) {
	t.Parallel()
	s := connect(t, fleettest.Database(t))
	client := &Client{Store: s, Batch: "b"}
	must.OK(t, client.Submit(t.Context(), []*fleetpipe.Task{{ID: "t", Hash: "h", Job: fleetpipe.Job{Args: []string{"true"}}}}))
	var id int64
	must.OK(t, s.Pool.QueryRow(t.Context(), "select id from belay.job").Scan(&id))
	batcherOf := func(name string) *batcher { return newBatcher(s, name, func(error) {}) }
	claims := func(c *batcher, attempt int) bool {
		got, err := c.makeClaims(t.Context(), []request[claimRequest, claim]{{question: claimRequest{fence{id, attempt}, int64(attempt)}}})
		must.OK(t, err)
		return got[0].taken
	}
	reports := func(c *batcher, attempt int) bool {
		result, err := (*Key)(nil).seal([]byte(`{"machine":"`+c.machine+`"}`), "b", "t", "h")
		must.OK(t, err)
		got, err := c.makeReports(t.Context(), []request[report, bool]{{question: report{fence: fence{id, attempt}, result: result}}})
		must.OK(t, err)
		return got[0]
	}
	bee, cow := batcherOf("bee"), batcherOf("cow")
	if !claims(bee, 1) || claims(cow, 1) {
		t.Fatal("not taken, or twice")
	}
	w := &Worker{Store: s}
	lose := func() {
		if _, err := s.Pool.Exec(t.Context(), "update belay.job set lease = now() - interval '1 second' where state = 'running'"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Pool.Exec(t.Context(), "select pg_sleep(greatest(0, 10.1 - extract(epoch from now() - pg_postmaster_start_time())))"); err != nil {
			t.Fatal(err)
		}
		must.OK(t, w.reapOnce(t.Context(), false))
	}
	refused := func(when string) {
		t.Helper()
		if reports(bee, 1) {
			t.Errorf("%s: a stale report is accepted", when)
		}
	}
	lose()
	refused("while it waits")
	if !claims(cow, 2) {
		t.Fatal("not taken by the next")
	}
	refused("while another machine works on it")
	for _, what := range []string{"a report", "its repetition"} {
		if !reports(cow, 2) {
			t.Error(what + " is refused")
		}
	}
	refused("when it is over")
	list, err := client.Results(t.Context(), nil, 10)
	if err != nil || len(list) != 1 || list[0].Machine != "cow" {
		t.Errorf("%+v, %v", list, err)
	}

	// Of a job with a session, what the machine reports counts while the job is kept for it, and not after that.
	must.OK(t, client.Submit(t.Context(), []*fleetpipe.Task{{ID: "t", Hash: "h", Again: true, Job: fleetpipe.Job{Args: []string{"true"}}}}))
	if !claims(bee, 3) {
		t.Fatal("not taken")
	}
	for _, sql := range []string{"update belay.job set session = 's', session_machine = 'bee'"} {
		if _, err := s.Pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	lose()
	if slices.ContainsFunc([]int{3, 4}, func(n int) bool { return claims(cow, n) }) {
		t.Error("a job that is kept for its machine was taken by another")
	}
	lose()
	if !claims(cow, 4) {
		t.Fatal("not taken by the next")
	}
	if reports(bee, 3) || reports(bee, 4) {
		t.Error("a stale report is accepted")
	}
}
