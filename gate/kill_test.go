//go:build unix

package gate_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/test/must"
)

// slotCount is how many slots the processes have to share.
const slotCount = 3

// hammer makes every kind of event as fast as it can, until it is killed. Which comes when is up to its seed.
func hammer(files *gate.Files, args []string) {
	seed, err := strconv.ParseUint(args[0], 10, 64)
	check(err)
	random := rand.New(rand.NewPCG(seed, 0))
	g, slots := shared(files), gate.Slots{Dir: files.Dir}
	fmt.Println("ready")
	for n := 0; ; n++ {
		slot, err := slots.Take("api", slotCount, me(n))
		if err != nil && !errors.Is(err, gate.ErrFull) {
			check(err)
		}
		pass, refusal := g.Enter(me(n))
		if refusal == nil {
			if random.IntN(2) == 0 {
				pass.Answered()
			}
			switch random.IntN(8) {
			case 0:
				pass.Throttled(0, "rate_limit")
			case 1:
				pass.Throttled(faulttest.N(random, 20*time.Millisecond), "rate_limit")
			case 2, 3, 4:
				pass.Failed("network")
			case 5:
				pass.Released()
			case 6:
				pass.Renew()
			}
			pass.Succeeded()
		}
		g.Spend()
		slot.Free()
	}
}

// Killed at any moment, holding a lock, a lease, a slot or half a replaced file, a process leaves nothing behind that
// keeps others out for longer than its lease, and nothing that cannot be read.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "gates")
	files := &gate.Files{Dir: dir}
	put(t, files, "api")
	locks := inodes(t, dir, "*.lock")
	stop := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() { observe(t, files, stop) })

	random := faulttest.Random(t)
	worker := func() *process { return begin(t, dir, "hammer", fmt.Sprint(random.Uint64())) }
	workers := make([]*process, 8) // most of them are about to start
	for i := range workers {
		workers[i] = worker()
	}
	tried, leases, slots := 0, 0, 0 // kills, and what was held by a killed process
	for n := range faulttest.Kills(t) {
		tried++
		w := &workers[n%len(workers)]
		(*w).expect("ready")
		time.Sleep(faulttest.N(random, 15*time.Millisecond))
		killed(t, *w)
		if t.Failed() {
			break
		}
		mark := []byte(fmt.Sprintf("%d/", (*w).cmd.Process.Pid))
		if state, _ := os.ReadFile(filepath.Join(dir, "api.json")); bytes.Contains(state, append([]byte{'"'}, mark...)) {
			leases++
		}
		for i := range slotCount {
			if name, _ := os.ReadFile(filepath.Join(dir, fmt.Sprintf("api.%d.slot", i))); bytes.HasPrefix(name, mark) {
				slots++
			}
		}
		*w = worker()
	}
	for _, w := range workers {
		killed(t, w)
	}
	close(stop)
	others.Wait()

	for path, before := range locks {
		if now := inodes(t, dir, filepath.Base(path))[path]; now != before {
			t.Errorf("lock file %s was replaced: inode %d, then %d", path, before, now)
		}
	}
	if damaged, _ := filepath.Glob(filepath.Join(dir, "*.damaged")); len(damaged) > 0 {
		t.Errorf("set aside: %v", damaged)
	}
	if _, err := files.Load("api"); err != nil {
		t.Error(err)
	}
	for i := range slotCount {
		if _, err := (gate.Slots{Dir: dir}).Take("api", slotCount, "me"); err != nil {
			t.Errorf("slot %d: %v", i, err)
		}
	}
	begun := time.Now()
	inside(&gate.Gate{Store: files, Key: "api", Settings: quick, Trouble: func(err error) { t.Error(err) }}, "me").Succeeded()
	if took := time.Since(begun); took > longest+testTimeout {
		t.Errorf("let in after %v", took)
	}
	t.Logf("tried %d kills at a gate, of which %d had a lease and %d a slot; survived: the gate is whole and open", tried, leases, slots)
}

// killed ends a process that must not have ended by itself.
func killed(t *testing.T, p *process) {
	t.Helper()
	p.kill()
	p.cmd.Wait()
	if ws := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() {
		t.Errorf("a process ended by itself: %v", p.cmd.ProcessState)
	}
}

// observe uses the gate without being killed: all that it does has to work at any time.
func observe(t *testing.T, files *gate.Files, stop chan struct{}) {
	var entered atomic.Int64
	g := &gate.Gate{Store: files, Key: "api", Settings: quick, Trouble: func(err error) {
		if errors.Is(err, gate.ErrLocked) { // a very busy machine
			t.Log(err)
		} else {
			t.Errorf("trouble: %v", err)
		}
	}}
	last := time.Now()
	for n := 0; ; n++ {
		select {
		case <-stop:
			t.Logf("%d of %d tries were let in", entered.Load(), n)
			return
		default:
		}
		if _, err := files.List(); err != nil {
			t.Errorf("list: %v", err)
		}
		pass, refusal := g.Enter(fmt.Sprint("observer ", n))
		if refusal == nil {
			entered.Add(1)
			last = time.Now()
			pass.Succeeded()
		} else if d := time.Since(last); d > testTimeout {
			t.Errorf("not let in for %v: %+v", d, refusal)
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// inodes are the identities of files.
func inodes(t *testing.T, dir, pattern string) map[string]uint64 {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no %s in %s: %v", pattern, dir, err)
	}
	list := map[string]uint64{}
	for _, path := range paths {
		info, err := os.Stat(path)
		must.OK(t, err)
		list[path] = uint64(info.Sys().(*syscall.Stat_t).Ino)
	}
	return list
}

// A kill at each of the places where it could do the most damage.
func TestKilled_Holder(t *testing.T) {
	t.Parallel()
	t.Run("OfTheLock", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		p := begin(t, dir, "lock")
		p.expect("locked")
		killed(t, p)
		updates(t, dir)
	})
	t.Run("OfASlot", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		slots := gate.Slots{Dir: dir}
		a, b := begin(t, dir, "slot", "2"), begin(t, dir, "slot", "2")
		nameA, nameB := a.says(), b.says()
		equal(t, "a third", begin(t, dir, "slot", "2").says(), gate.ErrFull.Error())
		if got := fmt.Sprint(slots.Holders("api")); "taken by "+slots.Holders("api")[0] != nameA && "taken by "+slots.Holders("api")[1] != nameA {
			t.Errorf("holders are %s, want those of %q and %q", got, nameA, nameB)
		}
		killed(t, a)
		equal(t, "holders", len(slots.Holders("api")), 1)
		if got := begin(t, dir, "slot", "2").says(); got == gate.ErrFull.Error() {
			t.Error("the slot of a killed process is not free")
		}
	})
	t.Run("OfAHalfWrittenFile", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		files := &gate.Files{Dir: dir}
		check(files.Update("api", time.Now(), func(s gate.State) gate.State { s.Breaker.Failures = 1; return s }))
		// As far as it got:
		must.OK(t, os.WriteFile(filepath.Join(dir, "api.json.new"), []byte(`{"v":1,"key":"ap`), 0o600))
		if s, err := files.Load("api"); err != nil || s.Breaker.Failures != 1 {
			t.Errorf("%s, %v", show(s), err)
		}
		updates(t, dir)
		if list, err := files.List(); err != nil || len(list) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

// updates makes an update. A lock that is kept would be given up after two seconds, with an error.
func updates(t *testing.T, dir string) {
	t.Helper()
	err := (&gate.Files{Dir: dir}).Update("api", time.Now(), func(s gate.State) gate.State {
		s.Breaker.Failures++
		return s
	})
	if err != nil {
		t.Error(err)
	}
}
