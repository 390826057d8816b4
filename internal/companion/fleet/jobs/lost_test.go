//go:build unix

package jobs_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/companion/fleet/fleettest"
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

// A job ends while PostgreSQL is away, and its machine is killed: the result is on its disk, and is delivered at the next start. Nothing runs again.
func TestFaults_ResultWaitsOnDisk(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.bee.work(1)
	f.submit(`{"id":"a"}`)
	f.begins(f.bee, 1)
	f.bee.net.Cut()
	f.goOn(f.bee)
	if !within(patience, func() bool {
		found, _ := filepath.Glob(filepath.Join(f.bee.dir, "state/fleet/jobs/*/report"))
		return len(found) == 1
	}) {
		t.Fatalf("the result is not on disk: %s", f.bee.err)
	}
	f.bee.stop(syscall.SIGKILL)
	f.bee.net.Heal()
	f.bee.work(1)
	if list := f.results(0); len(list) != 1 || len(f.ran()) != 1 {
		t.Errorf("ran %v: %+v", f.ran(), list)
	}
}
