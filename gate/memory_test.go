package gate_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/test/must"
)

// Slots in memory are taken, named and given back like those in files, each once.
func TestMemory_Slots(t *testing.T) {
	var m gate.Memory
	one, err := m.Take("api", 2, "run 1")
	must.OK(t, err)
	two, err := m.Take("api", 2, "run 2")
	must.OK(t, err)
	if _, err := m.Take("api", 2, "run 3"); !errors.Is(err, gate.ErrFull) {
		t.Errorf("a third of two slots: %v", err)
	}
	if _, err := m.Take("other", 1, "run 3"); err != nil {
		t.Errorf("a slot of another key: %v", err)
	}
	if got := m.Holders("api"); !slices.Equal(got, []string{"run 1", "run 2"}) {
		t.Errorf("holders %q", got)
	}
	one.Free()
	again, err := m.Take("api", 2, "run 3")
	must.OK(t, err)
	one.Free() // another has it by now
	if got := m.Holders("api"); !slices.Equal(got, []string{"run 2", "run 3"}) {
		t.Errorf("holders %q", got)
	}
	two.Free()
	again.Free()
	if got := m.Holders("api"); got != nil {
		t.Errorf("holders %q of free slots", got)
	}
}

// Watchers of a key are told of its changes, and of no other key's.
func TestMemory_Watch(t *testing.T) {
	var m gate.Memory
	changed, stop, err := m.Watch("api")
	must.OK(t, err)
	gone, leave, _ := m.Watch("api")
	leave()
	hold := func(key string) {
		now := time.Now()
		if err := m.Update(key, now, func(s gate.State) gate.State {
			s.Hold = gate.Hold{Since: now, Until: now.Add(time.Hour)}
			return s
		}); err != nil {
			t.Fatal(err)
		}
	}
	hold("other")
	select {
	case <-changed:
		t.Error("told of another key")
	default:
	}
	hold("api")
	hold("api") // before the first change was heard of
	<-changed
	select {
	case <-changed:
		t.Error("told twice at once")
	case <-gone:
		t.Error("told after it has left")
	default:
	}
	stop()
	hold("api")
	select {
	case <-changed:
		t.Error("told after it has left")
	default:
	}
}
