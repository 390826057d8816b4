//go:build unix

package jobs

import (
	"context"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/fleetpipe"
)

// A machine that was cut off has its job again, with the next attempt, at the moment in which the job ends: what it reports of the attempt before is its result.
func TestBatcher_ReportWhileTakenUpAgain(t *testing.T) {
	t.Parallel()
	d := newTestBatch(t)
	d.submit(false, "a")
	bee := newBatcher(d.client.Store, "bee", func(error) {})
	var id int64
	if err := d.client.Store.Pool.QueryRow(t.Context(), "select id from belay.job").Scan(&id); err != nil {
		t.Fatal(err)
	}
	got, err := bee.makeClaims(t.Context(), []request[claimRequest, claim]{{question: claimRequest{fence{id, 1}, 7}}})
	if err != nil || !got[0].taken {
		t.Fatal(got, err)
	}
	d.sql("update belay.job set session = 's', session_machine = 'bee', lease = now() - interval '1 second'")
	d.sql("select pg_sleep(greatest(0, 10.1 - extract(epoch from now() - pg_postmaster_start_time())))") // nothing is taken back before
	w := &Worker{Store: d.client.Store, Machine: "bee", Count: 1, held: map[fence]*attempt{}}
	if err := w.reapOnce(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	a := &attempt{claimed: got[0].claimed, cancel: func(error) {}, inSession: "s"}
	w.held[a.fence] = a
	if err := w.renew(t.Context()); err != nil || a.attempt != 2 {
		t.Fatal(a.attempt, err)
	}
	accepted, err := bee.makeReports(t.Context(), []request[report, bool]{{question: report{fence: fence{id, 1}, result: []byte("p{}")}}})
	if err != nil || !accepted[0] {
		t.Error("refused: ", err)
	}
}

// A result that waits on disk is that of the attempt in which it was made, which is not always the one that the job was begun in.
func TestWorker_ResultOfALaterAttempt(t *testing.T) {
	t.Parallel()
	w := &Worker{Machine: "bee", Dir: t.TempDir(), Say: func(string) {}}
	w.reporter = newBatcher(nil, "bee", func(error) {}) // PostgreSQL is away
	folder := w.folder(fence{5, 1})
	if err := w.make(folder); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	w.deliver(ctx, &attempt{claimed: claimed{fence: fence{5, 2}}}, &fleetpipe.Outcome{}, folder)
	left, _, err := w.left()
	if _, there := left[fence{5, 2}]; err != nil || len(left) != 1 || !there {
		t.Errorf("%v, %v", left, err)
	}
}
