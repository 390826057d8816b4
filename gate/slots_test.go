//go:build unix

package gate_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/test/must"
)

func take(t *testing.T, s gate.Slots, key string, n int, holder string) *gate.Slot {
	t.Helper()
	slot, err := s.Take(key, n, holder)
	must.OK(t, err)
	return slot
}

func TestSlots(t *testing.T) {
	s := gate.Slots{Dir: filepath.Join(t.TempDir(), "state", "gates")}
	equal(t, "holders of none", fmt.Sprint(s.Holders("api")), "[]")
	a, b := take(t, s, "api", 3, "a"), take(t, s, "api", 3, "b")
	c := take(t, s, "api", 3, "c")
	if _, err := s.Take("api", 3, "d"); !errors.Is(err, gate.ErrFull) {
		t.Fatalf("a fourth of three: %v", err)
	}
	equal(t, "holders", fmt.Sprint(s.Holders("api")), "[a b c]")

	// Another process may have another bound: all holders count.
	if _, err := s.Take("api", 1, "d"); !errors.Is(err, gate.ErrFull) {
		t.Fatalf("a second of one: %v", err)
	}
	d := take(t, s, "api", 4, "d")
	b.Free()
	equal(t, "holders", fmt.Sprint(s.Holders("api")), "[a c d]")
	e := take(t, s, "api", 4, "e")
	equal(t, "holders", fmt.Sprint(s.Holders("api")), "[a e c d]")
	for _, slot := range []*gate.Slot{a, c, d, e, nil} {
		slot.Free()
	}
	equal(t, "holders", fmt.Sprint(s.Holders("api")), "[]")
	equal(t, "files", names(t, s.Dir), "api.0.slot api.1.slot api.2.slot api.3.slot")
}

// "deploy" and "deploy.eu" are two scopes: replacing the holder of one must not end that of the other.
func TestSlots_KeysWithTheSameBeginning(t *testing.T) {
	s := gate.Slots{Dir: t.TempDir()}
	for _, key := range []string{"deploy", "deploy.eu", "deploy.0", "deploy.0.slot", "deploy.1", "Deploy", "deploy/eu", "deploy*"} {
		defer take(t, s, key, 1, "holder of "+key).Free()
	}
	equal(t, "holders", fmt.Sprint(s.Holders("deploy")), "[holder of deploy]")
	equal(t, "holders", fmt.Sprint(s.Holders("deploy.0")), "[holder of deploy.0]")
	equal(t, "holders", fmt.Sprint(s.Holders("deploy*")), "[holder of deploy*]")
}

// Reading the holders must not make a free slot look taken: --on-busy fail would fail for nothing.
func TestSlots_LookingTakesNothing(t *testing.T) {
	s := gate.Slots{Dir: t.TempDir()}
	take(t, s, "api", 1, "a").Free()
	var stop atomic.Bool
	var viewers sync.WaitGroup
	for range 4 {
		viewers.Go(func() {
			for !stop.Load() {
				s.Holders("api")
			}
		})
	}
	for i := range 300 {
		slot, err := s.Take("api", 1, "b")
		if err != nil {
			t.Errorf("round %d: %v", i, err)
			break
		}
		slot.Free()
	}
	stop.Store(true)
	viewers.Wait()
}

// Any number at the same time: never more than there are slots.
func TestSlots_NeverMore(t *testing.T) {
	s := gate.Slots{Dir: t.TempDir()}
	var now, most, taken atomic.Int32
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			for range 50 {
				slot, err := s.Take("api", 3, fmt.Sprint(i))
				if errors.Is(err, gate.ErrFull) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				n := now.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				taken.Add(1)
				now.Add(-1)
				slot.Free()
			}
		})
	}
	all.Wait()
	if most.Load() > 3 || taken.Load() < 3 {
		t.Errorf("%d at the same time, %d in all", most.Load(), taken.Load())
	}
}

func TestSlots_Trouble(t *testing.T) {
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	s := gate.Slots{Dir: filepath.Join(dir, "file", "gates")}
	if _, err := s.Take("api", 1, "a"); err == nil || errors.Is(err, gate.ErrFull) {
		t.Errorf("in a directory that is a file: %v", err)
	}
	equal(t, "holders", fmt.Sprint(s.Holders("api")), "[]")

	s = gate.Slots{Dir: dir}
	must.OK(t, os.Mkdir(filepath.Join(dir, "api.0.slot"), 0o700))
	if _, err := s.Take("api", 1, "a"); err == nil || errors.Is(err, gate.ErrFull) || !strings.Contains(err.Error(), "api.0.slot") {
		t.Errorf("a slot that is a directory: %v", err)
	}
}

// A second Free does not free the next holder's slot: a third run could enter a session that the first had left and the
// second wrote to.
func TestSlots_FreedTwice(t *testing.T) {
	for _, fleeting := range []bool{true, false} {
		s := gate.Slots{Dir: t.TempDir(), Fleeting: fleeting}
		for range 3 {
			first := take(t, s, "session", 1, "first")
			first.Free()
			second := take(t, s, "session", 1, "second")
			first.Free()
			if third, err := s.Take("session", 1, "third"); !errors.Is(err, gate.ErrFull) {
				t.Errorf("two have it (%v)", err)
				third.Free()
			}
			equal(t, "holders", fmt.Sprint(s.Holders("session")), "[second]")
			second.Free()
		}
	}
}
