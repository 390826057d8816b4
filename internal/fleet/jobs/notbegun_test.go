//go:build unix

package jobs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/test/must"
)

// A machine that cannot begin jobs, as one whose disk is full, leaves them to others. It used to fail them, one after the other, as fast as it got them. What others do then is
// their first try: that of bee does not count, as it has begun nothing.
func TestBatch_MachineCannotBegin(t *testing.T) {
	t.Parallel()
	dsn := fleettest.Database(t)
	ant, bee, cow := newMachine(t, "ant", dsn), newMachine(t, "bee", dsn), newMachine(t, "cow", dsn)
	bee.pace(10) // others look for refused jobs sooner
	cow.pace(10)
	fleettest.Put(t, ant.dir, "tasks.txt", "one\n")
	fleettest.Put(t, ant.dir, "more.txt", "two\nthree\nfour\n")
	bee.work(1)
	if out, code := ant.run("batch", "--fleet", "tasks.txt", "--", "cat"); code != 0 {
		t.Fatalf("exit code %d: %s\n%s", code, out, bee.err)
	}
	jobs := filepath.Join(bee.dir, "state/fleet/jobs")
	must.OK(t, os.RemoveAll(jobs))
	fleettest.Put(t, bee.dir, "state/fleet/jobs", "not a directory")

	out, code := ant.run("batch", "--fleet", "-j1", "tasks.txt", "-o", "alone.jsonl", "--", "cat")
	list := readResults(t, filepath.Join(ant.dir, "alone.jsonl"))
	if code != 1 || len(list) != 1 || !strings.HasPrefix(list[0].Error, "no machine runs it: cannot prepare the job: ") {
		t.Errorf("alone: exit code %d: %s\n%+v\n%s", code, out, list, bee.err)
	}
	cow.work(1)
	if !within(patience, func() (works bool) {
		ask(t, dsn, "select exists (select from belay.worker where machine = 'cow')").Scan(&works)
		return works
	}) {
		t.Fatalf("cow does not work: %s", cow.err)
	}
	out, code = ant.run("batch", "--fleet", "more.txt", "-o", "both.jsonl", "--", "cat")
	list = readResults(t, filepath.Join(ant.dir, "both.jsonl"))
	if code != 0 || len(list) != 3 || !strings.Contains(bee.err.String(), "is left to other machines: cannot prepare the job: ") {
		t.Fatalf("both: exit code %d: %s\n%+v\n%s", code, out, list, bee.err)
	}
	for _, l := range list {
		if l.Machine != "cow" || l.Begun != "new" || l.Tries > 1 {
			t.Errorf("%+v", l)
		}
	}
}
