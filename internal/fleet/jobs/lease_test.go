//go:build unix

package jobs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/test/must"
)

// A machine that was frozen finds that its job was given to another one. Its own result does not count, and there is one.
func TestLease_FrozenMachine(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.pace(5)
	f.bee.work(1)
	f.submit(`{"id":"a"}`)
	f.begins(f.bee, 1)
	f.bee.signal(syscall.SIGSTOP)
	frozen := time.Now()
	f.cow.work(1)
	f.begins(f.cow, 1)
	t.Logf("begun elsewhere after %s", time.Since(frozen).Round(100*time.Millisecond))
	f.goOn(f.bee) // what it runs is not frozen, and has a result
	if !within(patience, func() bool {
		running, _ := filepath.Glob(filepath.Join(f.bee.dir, "state/runs/*"))
		return len(running) == 0
	}) {
		t.Fatal("what bee runs has not ended")
	}
	f.bee.signal(syscall.SIGCONT)
	f.bee.says("task a was given to another machine")
	f.goOn(f.cow)
	if list := f.results(0); len(list) != 1 || list[0].Machine != "cow" || list[0].Tries < 2 || list[0].Begun != "restarted" {
		t.Errorf("%+v", list)
	}
}

// A task that needs what no machine has says so, waits, and runs on the first that has it.
func TestNeeds_WaitForAMachine(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.bee.work(1, "--label=linux")
	f.goOn(f.bee)
	f.goOn(f.cow)
	f.submit(`{"id":"a"}` + "\n" + `{"id":"b","needs":["gpu","linux"]}` + "\n" + `{"id":"c","needs":["linux"]}`)
	f.begins(f.bee, 2)
	if slices.Contains(f.ran(), "b") {
		t.Errorf("b was begun: %v", f.ran())
	}
	const waits = "no machine of the fleet works on jobs that need gpu,linux; they wait for one."
	f.batch.says(waits)
	f.cow.work(1, "--label=gpu,linux,other")
	got := map[string]string{}
	for _, l := range f.results(0) {
		got[l.Task] = l.Machine + " " + l.State
	}
	if said := f.batch.out.String(); got["b"] != "cow done" || got["c"] != "bee done" || got["a"] == "" || strings.Count(said, waits) != 1 {
		t.Errorf("%v\n%s", got, said)
	}
}

// A machine that is drained finishes its job, takes no other, and leaves.
func TestDrain_FinishesAndLeaves(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.bee.work(1)
	f.submit(`{"id":"a"}` + "\n" + `{"id":"b"}`)
	f.begins(f.bee, 1)
	if out, code := f.ant.run("fleet", "drain", "bee"); code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	f.bee.says("finishes")
	f.goOn(f.bee)
	ended := make(chan struct{})
	go func() { f.bee.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatalf("bee has not left: %s", f.bee.err)
	}
	if code := f.bee.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("bee ended with %d: %s", code, f.bee.err)
	}
	f.goOn(f.cow)
	f.cow.work(1)
	got := map[string]string{}
	for _, l := range f.results(0) {
		got[l.Task] = l.Machine + " " + l.Begun
	}
	if got["a"] != "bee new" || got["b"] != "cow new" {
		t.Errorf("%v", got)
	}
}

// A machine that is stopped hands its job over at once: no lease has to end first.
func TestLease_StoppedMachine(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.bee.work(1)
	f.submit(`{"id":"a"}`)
	f.begins(f.bee, 1)
	f.goOn(f.cow)
	f.cow.work(1)
	f.cow.says("joined")
	f.bee.stop(syscall.SIGTERM)
	if n := f.jobs("machine = 'bee'"); n != 0 {
		t.Errorf("it leaves %d jobs to the end of their leases", n)
	}
	if list := f.results(0); len(list) != 1 || list[0].State != "done" || list[0].Machine != "cow" || list[0].Begun != "restarted" {
		t.Errorf("%+v", list)
	}
}

// The jobs of a fleet are encrypted with the key that init has made. A machine with another key, or with none, says so and works on nothing.
func TestKey_OtherMachines(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Empty(t))
	f.goOn(f.bee)
	if out, code := f.ant.run("fleet", "init"); code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	key := func(m *machine) string { return filepath.Join(m.dir, "config/belay/fleet.key") }
	data, err := os.ReadFile(key(f.ant))
	must.OK(t, err)
	os.WriteFile(key(f.bee), data, 0o600)
	for content, want := range map[string]string{"": "the jobs of this fleet are encrypted, and there is no key in " + key(f.cow), strings.Repeat("0a", 32) + "\n": "the key on this machine is not the key of this fleet", "nonsense\n": key(f.cow)} {
		if os.Remove(key(f.cow)); content != "" {
			os.WriteFile(key(f.cow), []byte(content), 0o600)
		}
		if out, code := f.cow.run("fleet", "join", "--name", "cow", "--workers", "1"); code != 2 || !strings.Contains(out, want) {
			t.Errorf("exit code %d: %s", code, out)
		}
	}
	os.WriteFile(key(f.cow), []byte(strings.Repeat("0a", 32)+"\n"), 0o600)
	os.WriteFile(filepath.Join(f.cow.dir, "tasks.txt"), []byte("hello\n"), 0o600)
	if out, code := f.cow.run("batch", "--fleet", "tasks.txt", "--", "cat"); code != 2 || !strings.Contains(out, "the key on this machine is not the key of this fleet") {
		t.Errorf("exit code %d: %s", code, out)
	}
	f.submit(`{"id":"a"}`)
	f.bee.work(1)
	if list := f.results(0); len(list) != 1 || list[0].Machine != "bee" || list[0].Result != "a\n" {
		t.Errorf("%+v", list)
	}
}

// A job that one machine does not allow runs on another that does.
func TestAllow_LeftToAnother(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.bee.allow(`["claude"]`)
	f.cow.allow(`[]`)
	f.goOn(f.cow)
	f.bee.work(1)
	f.bee.says("joined")
	if out, code := f.cow.run("fleet", "join", "--workers", "1"); code != 2 || !strings.Contains(out, "allows no jobs yet") {
		t.Errorf("exit code %d: %s", code, out)
	}
	f.cow.work(1, "--allow=/nowhere,generic")
	f.cow.says("joined")
	f.submit(`{"id":"a"}` + "\n" + `{"id":"b"}` + "\n" + `{"id":"c"}`)
	for _, l := range f.results(0) {
		if l.State != "done" || l.Machine != "cow" {
			t.Errorf("%+v", l)
		}
	}
	f.bee.says("is left to other machines: sh is not among what jobs may run here (allow in [fleet])")
}

// A machine that starts before PostgreSQL can be reached says so once, and joins when it can. One whose DSN is wrong ends.
func TestJoin_WaitsForPostgreSQL(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	for _, workers := range []int{0, 1} {
		f.bee.net.Cut()
		f.bee.work(workers)
		f.bee.says("waiting until it can be reached")
		if !within(patience, func() bool { return f.bee.net.Refused() > 2 }) {
			t.Error("it does not try again")
		}
		f.bee.net.Heal()
		f.bee.says("joined")
		if said := f.bee.err.String(); strings.Count(said, "waiting until it can be reached") != 1 {
			t.Errorf("bee says %s", said)
		}
		f.bee.stop(syscall.SIGTERM)
		f.bee.err = &lockedBuffer{}
	}
	f.cow.dsn = strings.Replace(f.cow.dsn, "dbname=", "dbname=no", 1)
	if out, code := f.cow.run("fleet", "join", "--name", "cow"); code == 0 || !strings.Contains(out, "does not exist") {
		t.Errorf("exit code %d: %s", code, out)
	}
}
