//go:build unix

package jobs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// Tasks that one machine submits run on another, and their results come back into the same file as always.
func TestBatch_RunsOnAnotherMachine(t *testing.T) {
	t.Parallel()
	dsn := fleettest.Database(t)
	ant, bee := newMachine(t, "ant", dsn), newMachine(t, "bee", dsn)
	bee.work(2)
	tasks := filepath.Join(ant.dir, "tasks.jsonl")
	os.WriteFile(tasks, []byte(`{"id":"a","prompt":"hello"}
{"id":"b","prompt":"wrong"}
{"id":"c","prompt":"last","depends_on":["a"]}
{"id":"d","prompt":"never","depends_on":["b"]}
`), 0o600)
	out, code := ant.run("batch", "--fleet", tasks, "-o", "results.jsonl", "--", "sh", "-c", `read x || true; echo "$x" from $BELAY_STATE_DIR; test "$x" != wrong || { echo bad >&2; exit 3; }`)
	if code != 1 {
		t.Fatalf("exit code %d: %s%s", code, out, bee.err)
	}
	got := map[string]line{}
	for _, l := range readResults(t, filepath.Join(ant.dir, "results.jsonl")) {
		got[l.Task] = l
	}
	if l := got["a"]; l.State != "done" || l.Machine != "bee" || l.Result != "hello from "+filepath.Join(bee.dir, "state")+"\n" || l.Begun != "new" || !l.Success {
		t.Errorf("%+v", l)
	}
	if l := got["b"]; l.State != "failed" || l.Stderr != "bad\n" {
		t.Errorf("%+v", l)
	}
	if got["c"].State != "done" || got["d"].State != "skipped" {
		t.Errorf("%+v", got)
	}
	t.Logf("%s", out)
}

// A machine runs only what its own user allows, and a job that no machine runs fails with the reason.
func TestBatch_RefusedByAll(t *testing.T) {
	t.Parallel()
	dsn := fleettest.Database(t)
	ant, bee, cow := newMachine(t, "ant", dsn), newMachine(t, "bee", dsn), newMachine(t, "cow", dsn)
	bee.allow(`["claude"]`)
	cow.allow(`["claude", "/srv"]`)
	bee.work(1)
	cow.work(1)
	os.WriteFile(filepath.Join(ant.dir, "tasks.txt"), []byte("hello\n"), 0o600)
	out, code := ant.run("batch", "--fleet", "tasks.txt", "--", "/tmp/claude-of-another", "-p")
	list := readResults(t, filepath.Join(ant.dir, "tasks.results.jsonl"))
	if code != 1 || len(list) != 1 || list[0].State != "failed" || list[0].Error != "no machine runs it: /tmp/claude-of-another is not among what jobs may run here (allow in [fleet])" {
		t.Fatalf("exit code %d: %s\n%+v\n%s%s", code, out, list, bee.err, cow.err)
	}
}

// A submitter that is killed finds its jobs when it is started again: what ran meanwhile is not repeated. One that is stopped withdraws them.
func TestBatch_SubmitterKilledAndStopped(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.bee.work(1)
	f.submit(`{"id":"a"}` + "\n" + `{"id":"b"}` + "\n" + `{"id":"c"}`)
	f.begins(f.bee, 1)
	f.batch.kill()
	f.goOn(f.bee)
	f.begins(f.bee, 3)
	f.resubmit()
	if list := f.results(0); len(list) != 3 || len(f.ran()) != 3 {
		t.Fatalf("ran %v: %+v", f.ran(), list)
	}

	f.hold(f.bee)
	os.Remove(filepath.Join(f.ant.dir, "results.jsonl"))
	f.resubmit()
	f.begins(f.bee, 4)
	f.batch.cmd.Process.Signal(syscall.SIGINT)
	if list := f.results(130); len(list) != 0 || len(f.ran()) != 4 {
		t.Errorf("ran %v: %+v", f.ran(), list)
	}
	f.waitFor(0, "state = 'running'") // it may have been interrupted before it had the answer to its submission
	f.goOn(f.bee)
	f.resubmit()
	if list := f.results(0); len(list) != 3 || len(f.ran()) != 7 {
		t.Fatalf("ran %v: %+v", f.ran(), list)
	}
}

// The result of a task that had to wait for another is taken, too, when its submitter is started again. It was thrown away, and the task was run and paid a second time.
func TestBatch_SubmitterKilledWithDependents(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.goOn(f.bee)
	f.bee.work(1)
	f.submit(`{"id":"a"}` + "\n" + `{"id":"b","depends_on":["a"],"needs":["gpu"]}` + "\n" + `{"id":"c","depends_on":["b"]}`)
	f.waitFor(1, "task = 'b'")
	f.batch.kill()
	f.goOn(f.cow)
	f.cow.work(1, "--label=gpu")
	f.waitFor(1, "task = 'b' and state = 'over'")
	f.resubmit()
	if list := f.results(0); len(list) != 3 || !slices.Equal(f.ran(), []string{"a", "b", "c"}) {
		t.Fatalf("ran %v: %+v", f.ran(), list)
	}
}

// -j is how many tasks of a batch are in the fleet at a time.
func TestBatch_AtMostSoMany(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.bee.work(3)
	f.submit(`{"id":"a"}`+"\n"+`{"id":"b"}`+"\n"+`{"id":"c"}`, "-j", "2")
	f.begins(f.bee, 2)
	if n := f.jobs("true"); n != 2 {
		t.Errorf("%d are in the fleet", n)
	}
	f.goOn(f.bee)
	if list := f.results(0); len(list) != 3 {
		t.Errorf("%+v", list)
	}
}

// Ctrl-C twice leaves while a job takes its time to stop. The batch that is started then finds that job cancelled, and submits it again: it ended with 0 and an unfinished task.
func TestBatch_ContinuedWhileJobsAreStopped(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.bee.work(1)
	fleettest.Put(t, f.ant.dir, "tasks.jsonl", `{"id":"a"}`+"\n")
	script := fmt.Sprintf(`trap 'while ! test -e %[1]s/end; do sleep 0.05; done; exit 1' TERM INT; echo ran >> %[1]s/ran; test -e %[1]s/end || { sleep 600 & wait; }`, f.dir)
	start := func() {
		f.batch = f.ant.start("batch", "--fleet", "tasks.jsonl", "-o", "results.jsonl", "--", "sh", "-c", script)
	}
	start()
	begun := func() bool { return len(f.ran()) == 1 }
	if !within(patience, begun) {
		t.Fatalf("not begun: %s%s", f.batch.out, f.bee.err)
	}
	f.batch.cmd.Process.Signal(syscall.SIGINT)
	f.waitFor(1, "cancelled")
	f.batch.cmd.Process.Signal(syscall.SIGINT)
	if list := f.results(130); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	start()
	f.batch.says("continu")
	fleettest.Put(t, f.dir, "end", "")
	if list := f.results(0); len(list) != 1 || list[0].State != "done" || len(f.ran()) != 2 {
		t.Errorf("ran %v: %+v: %s", f.ran(), list, f.batch.out)
	}
}

// A task that was changed while its submitter was away is another one: the result of the job that is still running is not taken for its own.
func TestBatch_TaskChangedMeanwhile(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.bee.work(1)
	start := func(prompt string) {
		fleettest.Put(t, f.ant.dir, "tasks.jsonl", `{"id":"a","prompt":"`+prompt+`"}`+"\n")
		f.batch = f.ant.start("batch", "--fleet", "tasks.jsonl", "-o", "results.jsonl", "--", "sh", "-c", fmt.Sprintf(`cat; echo ran >> %[1]s/ran; while ! test -e %[1]s/go; do sleep 0.05; done`, f.dir))
	}
	start("one")
	if !within(patience, func() bool { return len(f.ran()) == 1 }) {
		t.Fatalf("not begun: %s%s", f.batch.out, f.bee.err)
	}
	f.batch.kill()
	start("two")
	f.waitFor(2, "task = 'a'")
	fleettest.Put(t, f.dir, "go", "")
	if list := f.results(0); len(list) != 1 || list[0].Result != "two" || len(f.ran()) != 2 {
		t.Errorf("ran %v: %+v: %s", f.ran(), list, f.batch.out)
	}
	if n := f.jobs("true"); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}
