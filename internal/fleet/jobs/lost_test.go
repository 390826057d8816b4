//go:build unix

package jobs_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// PostgreSQL loses transactions that it had confirmed, as a copy does that takes over too early, or one whose commits are not synchronous when it is killed. A job that a
// machine had taken is ready again then, and its result still counts; one that is ready and not in the queue is put there again. Neither came to an end.
func TestFaults_LostTransactions(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.pace(4)
	f.bee.work(1)
	f.submit(`{"id":"taken"}` + "\n" + `{"id":"orphan"}`)
	f.begins(f.bee, 1)
	f.exec(`update belay.job set state = 'ready', machine = null, river = null, lease = null, started = null;
update belay.river_job set state = 'completed', attempt = 1, finalized_at = now() where state = 'available'`)
	f.goOn(f.bee)
	tries := map[string]int{}
	for _, l := range f.results(0) {
		tries[l.Task] = max(1, l.Tries)
	}
	if tries["taken"] != 1 || tries["orphan"] < 2 || len(f.ran()) != 2 {
		t.Errorf("%v, ran %v", tries, f.ran())
	}
}

// PostgreSQL is restored from a copy that does not have the jobs: the batch says so and ends, and a second start continues it. It used to wait without end.
func TestFaults_LostJobs(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.submit(`{"id":"a"}` + "\n" + `{"id":"b"}`)
	f.waitFor(2, "true")
	f.exec("delete from belay.job; delete from belay.river_job")
	if said, code := f.batch.wait(); code == 0 || !strings.Contains(said, "PostgreSQL has lost 2 jobs of this batch, as after a restore. Start the batch again") {
		t.Fatalf("exit code %d: %s", code, said)
	}
	f.goOn(f.bee)
	f.bee.work(1)
	f.resubmit()
	if list := f.results(0); len(list) != 2 {
		t.Errorf("%+v", list)
	}
}
