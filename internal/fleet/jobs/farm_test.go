//go:build unix

package jobs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// farm is a fleet in which ant submits, bee and cow may work, and a job says who works on it and ends when it is told.
type farm struct {
	t             *testing.T
	dsn           string
	ant, bee, cow *machine
	dir           string
	batch         *call
}

func newFarm(t *testing.T, dsn string) *farm {
	return &farm{t: t, dsn: dsn, ant: newMachine(t, "ant", dsn), bee: newMachine(t, "bee", dsn), cow: newMachine(t, "cow", dsn), dir: t.TempDir()}
}

// pace makes leases so many times shorter.
func (f *farm) pace(n int) {
	for _, m := range []*machine{f.ant, f.bee, f.cow} {
		m.pace(n)
	}
}

// submit submits tasks, given as lines.
func (f *farm) submit(tasks string, flags ...string) {
	f.t.Helper()
	fleettest.Put(f.t, f.ant.dir, "tasks.jsonl", tasks+"\n")
	f.resubmit(flags...)
}

// resubmit starts the same batch again.
func (f *farm) resubmit(flags ...string) {
	f.t.Helper()
	script := fmt.Sprintf(`who=$(basename $(dirname "$BELAY_STATE_DIR")); echo "{id} $who" >> %s/ran; while ! test -e %s/go-$who; do sleep 0.2; done; echo {id}`, f.dir, f.dir)
	f.batch = f.ant.start(append(append([]string{"batch", "--fleet", "tasks.jsonl", "-o", "results.jsonl"}, flags...), "--", "sh", "-c", script)...)
}

// goOn lets the jobs on a machine end.
func (f *farm) goOn(m *machine) { fleettest.Put(f.t, f.dir, "go-"+filepath.Base(m.dir), "") }

// hold lets them wait again.
func (f *farm) hold(m *machine) { os.Remove(filepath.Join(f.dir, "go-"+filepath.Base(m.dir))) }

// ran are the jobs that were begun, on all machines and in this order.
func (f *farm) ran() (list []string) {
	data, _ := os.ReadFile(filepath.Join(f.dir, "ran"))
	for line := range strings.Lines(string(data)) {
		job, _, _ := strings.Cut(line, " ")
		list = append(list, job)
	}
	return list
}

// begins waits until a machine has begun so many jobs.
func (f *farm) begins(m *machine, n int) {
	f.t.Helper()
	count := func() int {
		data, _ := os.ReadFile(filepath.Join(f.dir, "ran"))
		return strings.Count(string(data), " "+filepath.Base(m.dir)+"\n")
	}
	if !within(patience, func() bool { return count() >= n }) {
		f.t.Fatalf("%d jobs were begun on %s: %s\n%s", count(), m.name, m.err, f.batch.out)
	}
}

// results are the results of the batch, which has to end with this exit code.
func (f *farm) results(code int) []line {
	f.t.Helper()
	if said, got := f.batch.wait(); got != code {
		f.t.Errorf("exit code %d: %s\nbee: %s\ncow: %s", got, said, f.bee.err, f.cow.err)
	}
	return readResults(f.t, filepath.Join(f.ant.dir, "results.jsonl"))
}

// jobs is how many jobs PostgreSQL has of which this holds.
func (f *farm) jobs(condition string) (n int) {
	f.t.Helper()
	ask(f.t, f.dsn, "select count(*) from belay.job where "+condition).Scan(&n)
	return n
}

// waitFor waits until there are so many.
func (f *farm) waitFor(n int, condition string) {
	f.t.Helper()
	if !within(patience, func() bool { return f.jobs(condition) == n }) {
		f.t.Fatalf("%d jobs are %s, not %d\nbee: %s\ncow: %s", f.jobs(condition), condition, n, f.bee.err, f.cow.err)
	}
}

// exec changes something in PostgreSQL.
func (f *farm) exec(sql string) {
	f.t.Helper()
	fleettest.Shared(f.t).Exec(f.t, f.dsn[strings.LastIndex(f.dsn, "=")+1:], sql)
}
