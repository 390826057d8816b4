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
)

// atOnce is how many runs were under way at the same time at most, by what they have written to a file: b when they begin, e when they end.
func atOnce(t *testing.T, path string) (most, ran int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
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
	// Without the member, the machine has its slots as before.
	if err := list[0].leave(); err != nil {
		t.Error(err)
	}
	if out, err := list[0].command("run", "--gate", "api", "--max-parallel", "2", "--max-wait", "0s", "--", "true").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A machine that is cut off keeps the slots that it has, and takes no others. Those of one that is gone for long are free.
func TestMember_MaxParallelCutOff(t *testing.T) {
	t.Parallel()
	list := join(t, "ant", "bee")
	a, b := list[0], list[1]
	dir := t.TempDir()
	running := a.command("run", "--quiet", "--gate", "api", "--max-parallel", "2", "--", "sh", "-c", "touch "+dir+"/a; exec sleep 60")
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
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
