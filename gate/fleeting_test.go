package gate_test

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/belay-run/belay/gate"
)

// A slot whose file goes with its holder is never held by two, however many want it.
func TestSlots_Fleeting(t *testing.T) {
	slots := gate.Slots{Dir: t.TempDir(), Fleeting: true}
	var inside, most, taken atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 300 {
				slot, err := slots.Take("session", 1, fmt.Sprint(i))
				if errors.Is(err, gate.ErrFull) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n > most.Load() {
					most.Store(n)
				}
				taken.Add(1)
				inside.Add(-1)
				slot.Free()
			}
		})
	}
	all.Wait()
	if most.Load() != 1 || taken.Load() < 100 {
		t.Errorf("%d at once, taken %d times", most.Load(), taken.Load())
	}
	if left, _ := os.ReadDir(slots.Dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
