//go:build linux

package member_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/gatefile"
	"github.com/belay-run/belay/internal/test/must"
)

// atOnce is how many runs were under way at the same time at most, by what they have written to a file: b when they begin, e when they end.
func atOnce(t *testing.T, path string) (most, ran int) {
	t.Helper()
	data, err := os.ReadFile(path)
	must.OK(t, err)
	now := 0
	for _, word := range strings.Fields(string(data)) {
		if word == "b" {
			now++
			ran++
		} else {
			now--
		}
		most = max(most, now)
	}
	return most, ran
}

// --max-parallel bounds the runs of all machines together, and every machine gets its turn.
func TestMember_MaxParallel(t *testing.T) {
	t.Parallel()
	list := join(t, "ant", "bee", "cat")
	log := filepath.Join(t.TempDir(), "log")
	var all sync.WaitGroup
	for _, m := range list {
		for range 3 {
			all.Go(func() {
				for range 2 {
					cmd := m.command("run", "--quiet", "--gate", "api", "--max-parallel", "2", "--max-wait", "5m", "--", "sh", "-c", fmt.Sprintf("echo b >> %[1]s; sleep 0.1; echo e >> %[1]s", log))
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Errorf("%v\n%s", err, out)
					}
				}
			})
		}
	}
	all.Wait()
	if most, ran := atOnce(t, log); most > 2 || ran != 18 {
		t.Errorf("%d of %d runs at once", most, ran)
	}
	// Some time after the member has ended, the machine has its slots as before.
	if err := list[0].leave(); err != nil {
		t.Error(err)
	}
	gatefile.InTouch(list[0].state.Gates().Dir, time.Now().Add(-2*gatefile.RestartTime))
	if out, err := list[0].command("run", "--gate", "api", "--max-parallel", "2", "--max-wait", "0s", "--", "true").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// While the member of a machine is restarted, the machine keeps to the slots that are leased to it, and those that its runs use stay leased: --max-parallel holds.
func TestMember_MaxParallelRestart(t *testing.T) {
	t.Parallel()
	list := join(t, "ant", "bee")
	a, b := list[0], list[1]
	dir := t.TempDir()
	hold := func(m *machine) (end func()) {
		t.Helper()
		run := m.command("run", "--quiet", "--gate", "api", "--max-parallel", "2", "--max-wait", "2m", "--", "sh", "-c", "touch "+dir+"/"+m.name+"; exec sleep 300")
		must.OK(t, run.Start())
		eventually(t, "the run of "+m.name+" starts", func() bool { _, err := os.Stat(dir + "/" + m.name); return err == nil })
		return sync.OnceFunc(func() {
			run.Process.Signal(syscall.SIGTERM)
			run.Wait()
		})
	}
	endA, endB := hold(a), hold(b)
	defer endA()
	defer endB()
	third := func(when string, m *machine) {
		t.Helper()
		if out, err := m.command("run", "--gate", "api", "--max-parallel", "2", "--max-wait", "300ms", "--", "true").CombinedOutput(); err == nil {
			t.Errorf("%s, a third run starts on %s: %s", when, m.name, out)
		}
	}
	must.OK(t, a.leave())
	gatefile.InTouch(a.state.Gates().Dir, time.Now()) // a busy machine may have taken its time
	third("while the member is away", a)
	third("while the member of another is away", b)
	a.start()
	eventually(t, "ant is back", func() bool { return strings.Count(a.heard(), "joined") == 2 })
	third("after a restart", a)
	third("after a restart", b)
	endB()
	if out, err := a.command("run", "--gate", "api", "--max-parallel", "2", "--max-wait", "2m", "--", "true").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// How long slots are idle between short runs that wait for them. It is printed, and held to what is promised only in make soak.
func TestMember_SlotsOfShortRuns(t *testing.T) {
	list := join(t, "ant", "bee", "cat", "dog")
	list[0].command() // is built first
	each := faulttest.Count(t, "BELAY_TEST_SHORT_RUNS", 1)
	var all sync.WaitGroup
	begun := time.Now()
	for _, m := range list {
		for range 4 {
			all.Go(func() {
				for range each {
					if out, err := m.command("run", "--quiet", "--gate", "api", "--max-parallel", "3", "--max-wait", "10m", "--", "sleep", "0.3").CombinedOutput(); err != nil {
						t.Errorf("%v\n%s", err, out)
					}
				}
			})
		}
	}
	all.Wait()
	wall := time.Since(begun)
	idle := 1 - float64(16*each)*0.3/(3*wall.Seconds())
	t.Logf("tried %d runs of 0.3 s in 3 slots: %v, idle for %.0f %%", 16*each, wall, 100*idle)
	if idle > 0.2 && os.Getenv("BELAY_TEST_SOAK") != "" {
		t.Errorf("slots are idle for %.0f %% of the time", 100*idle)
	}
}

// A machine that is cut off keeps the slots that it has, and takes no others. Those of one that is gone for long are free.
func TestMember_MaxParallelCutOff(t *testing.T) {
	t.Parallel()
	list := join(t, "ant", "bee")
	a, b := list[0], list[1]
	dir := t.TempDir()
	running := a.command("run", "--quiet", "--gate", "api", "--max-parallel", "2", "--", "sh", "-c", "touch "+dir+"/a; exec sleep 60")
	must.OK(t, running.Start())
	defer func() {
		running.Process.Signal(syscall.SIGTERM)
		running.Wait()
	}()
	eventually(t, "the first run starts", func() bool { _, err := os.Stat(dir + "/a"); return err == nil })
	a.net.Cut()
	a.says("out of reach")
	if out, err := a.command("run", "--gate", "api", "--max-parallel", "2", "--max-wait", "500ms", "--", "true").CombinedOutput(); err == nil {
		t.Errorf("it has taken a slot that it may not have: %s", out)
	}
	if out, err := b.command("run", "--gate", "api", "--max-parallel", "2", "--max-wait", "1m", "--", "true").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	a.net.Heal()
	a.says("the fleet is back")
	begun := time.Now()
	if out, err := a.command("run", "--gate", "api", "--max-parallel", "2", "--max-wait", "1m", "--", "true").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("the slot of the other machine is here after %v", time.Since(begun))
}
