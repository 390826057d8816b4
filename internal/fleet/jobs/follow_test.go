//go:build unix

package jobs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/test/must"
)

// testBatch is a submitter of one batch, and what it was told.
type testBatch struct {
	*follower
	t    *testing.T
	told bytes.Buffer
}

// connect connects to the fleet of a database.
func connect(t *testing.T, dsn string) *store.Store {
	t.Helper()
	address, err := store.ParseAddress(dsn, func(string) string { return "" })
	must.OK(t, err)
	s, err := store.Connect(t.Context(), address)
	must.OK(t, err)
	t.Cleanup(s.Close)
	return s
}

func newTestBatch(t *testing.T) *testBatch {
	t.Helper()
	return testBatchOf(t, connect(t, fleettest.Database(t)))
}

// restart is the next start of the same batch.
func (d *testBatch) restart() *testBatch { return testBatchOf(d.t, d.client.Store) }

func testBatchOf(t *testing.T, s *store.Store) *testBatch {
	d := &testBatch{t: t}
	flush := bufio.NewWriter(&d.told)
	d.follower = &follower{client: &Client{Store: s, Batch: "b"}, flush: flush, out: json.NewEncoder(flush), picks: map[fleetpipe.Pick]picked{}, expected: map[taskKey]bool{}, seen: map[int64]passed{},
		taken: map[int64]time.Time{}}
	return d
}

// submit submits tasks by their ids.
func (d *testBatch) submit(again bool, ids ...string) {
	d.t.Helper()
	for _, id := range ids {
		d.tasks = append(d.tasks, &fleetpipe.Task{ID: id, Hash: "h", Again: again, Job: fleetpipe.Job{Args: []string{"true"}}})
	}
	must.OK(d.t, d.obey(d.t.Context(), fleetpipe.Order{Submit: true}))
}

func (d *testBatch) sql(statement string, args ...any) {
	d.t.Helper()
	if _, err := d.client.Store.Pool.Exec(d.t.Context(), statement, args...); err != nil {
		d.t.Fatal(err)
	}
}

func (d *testBatch) reports() string {
	d.flush.Flush()
	return d.told.String()
}

// A result that cannot be read is that of one task. The others had waited for it, with PostgreSQL said to be away.
func TestFollow_UnreadableResult(t *testing.T) {
	t.Parallel()
	d := newTestBatch(t)
	d.submit(false, "a", "b")
	good, err := d.client.Key.seal([]byte(`{"machine":"bee"}`), "b", "b", "h")
	must.OK(t, err)
	d.sql("update belay.job set state = 'over', ended = now(), payload = null, result = case when task = 'a' then '\\x00'::bytea else $1 end", good)
	d.results(t.Context())
	said := d.reports()
	if !strings.Contains(said, `"task":"a","hash":"h","attempt":1,"error":"cannot read the result: the job was encrypted with another key`) || !strings.Contains(said, `"task":"b","hash":"h","machine":"bee"`) {
		t.Error(said)
	}
}

// A task that runs again has the row of its first result. While that cannot be deleted, nothing is submitted: it would be deleted later, with the task at work.
func TestFollow_RunsAgain(t *testing.T) {
	t.Parallel()
	d := newTestBatch(t)
	d.submit(false, "a")
	d.sql("update belay.job set state = 'over', ended = now(), result = 'p{}'::bytea")
	d.results(t.Context())
	for id := range d.seen {
		d.taken[id] = time.Now()
	}
	d.sql(`create function belay.busy() returns trigger language plpgsql as $$ begin raise exception 'busy' using errcode = '40001'; end $$;
create trigger busy before delete on belay.job for each row execute function belay.busy()`)
	time.AfterFunc(500*time.Millisecond, func() { d.client.Store.Pool.Exec(context.Background(), "drop trigger busy on belay.job") })
	d.submit(true, "a")
	must.OK(t, d.forget(t.Context(), true))
	if there, err := d.client.Tasks(t.Context()); err != nil || len(there) != 1 {
		t.Errorf("%v, %v: %s", there, err, d.reports())
	}
}

// The answer that names the withdrawn jobs is lost with the connection. They are withdrawn even so, and not lost.
func TestFollow_AnswerToWithdrawLost(t *testing.T) {
	t.Parallel()
	d := newTestBatch(t)
	d.submit(false, "a", "b")
	d.sql("update belay.job set state = 'running', river = 1, machine = 'bee' where task = 'b'")
	if _, err := d.client.Withdraw(t.Context()); err != nil { // by the one whose answer was lost
		t.Fatal(err)
	}
	must.OK(t, d.obey(t.Context(), fleetpipe.Order{Withdraw: true}))
	d.compare(t.Context())
	if said := d.reports(); d.lost != nil || !strings.Contains(said, `{"withdrawn":["a"]}`) || len(d.expected) != 1 {
		t.Errorf("%v, %v: %s", d.lost, d.expected, said)
	}
}

// The submitter was killed, and started again. Results that had come meanwhile are passed on before it comes to submit its tasks, and their rows go once they are
// written down. They were counted as lost, as after a restore: any batch that took longer to submit than to look ended with that, each time that it was continued.
func TestFollow_ResultsBeforeSubmit(t *testing.T) {
	t.Parallel()
	d := newTestBatch(t)
	d.submit(false, "a", "b", "c", "failed")
	d.sql("update belay.job set state = 'over', ended = now(), result = 'p{}'::bytea where task in ('a', 'b', 'failed')")
	again := d.restart()
	again.results(t.Context())
	again.tasks = []*fleetpipe.Task{{ID: "failed", Hash: "h", Again: true, Job: fleetpipe.Job{Args: []string{"true"}}}}
	again.submit(false, "a", "b", "c")
	for id, p := range again.seen {
		if p.task.ID != "failed" {
			again.taken[id] = time.Now()
		}
	}
	must.OK(t, again.forget(t.Context(), true))
	for range 3 {
		again.compare(t.Context())
	}
	if again.lost != nil || len(again.expected) != 2 {
		t.Errorf("%v, expected %v", again.lost, again.expected)
	}
	// The row of the one that runs again is the same, and so is not taken for what was passed on.
	d.sql("update belay.job set state = 'over', ended = now(), result = 'p{}'::bytea where task = 'failed'")
	again.told.Reset()
	if again.results(t.Context()); !strings.Contains(again.reports(), `"task":"failed"`) {
		t.Errorf("%s", again.reports())
	}
	d.sql("delete from belay.job")
	for range 3 {
		again.compare(t.Context())
	}
	if again.lost == nil || !strings.Contains(again.lost.Error(), "has lost 1 job of") {
		t.Errorf("%v", again.lost)
	}
}
