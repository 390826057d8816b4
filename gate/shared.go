package gate

import (
	"errors"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/gatefile"
)

const (
	// leaseWithin is how long a slot is waited for that the member of a fleet was asked for, and leasePoll how often it is looked for.
	leaseWithin = 200 * time.Millisecond
	leasePoll   = 5 * time.Millisecond
)

// Take takes one of n slots of a key in the holder's name, as [Slots.Take] does: they are beside its state. While the machine is a member of a fleet, the
// slots are the slots of all its machines: one that is not leased to this machine is asked for.
func (f *Files) Take(key string, n int, holder string) (*Slot, error) {
	slots := Slots{Dir: f.Dir, shared: gatefile.Leased(f.Dir)}
	slot, err := slots.Take(key, n, holder)
	if !slots.shared || !errors.Is(err, ErrFull) || !gatefile.Ask(f.Dir, gatefile.Want{Key: key, Slots: n}) {
		return slot, err
	}
	for until := time.Now().Add(leaseWithin); errors.Is(err, ErrFull) && time.Now().Before(until); {
		time.Sleep(leasePoll)
		slot, err = slots.take(key, n, holder)
	}
	return slot, err
}

// Holders are the names of those that hold a slot of the key now.
func (f *Files) Holders(key string) []string { return Slots{Dir: f.Dir}.Holders(key) }

// Watch returns a channel that gets a value when the state of a key may have changed, and a function that ends that. The
// error is nil: it is as [Files.Watch].
func (m *Memory) Watch(key string) (changed <-chan struct{}, stop func(), err error) {
	c := make(chan struct{}, 1)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.watchers == nil {
		m.watchers = map[string][]chan struct{}{}
	}
	m.watchers[key] = append(m.watchers[key], c)
	return c, func() { m.unwatch(key, c) }, nil
}

func (m *Memory) unwatch(key string, c chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watchers[key] = slices.DeleteFunc(m.watchers[key], func(other chan struct{}) bool { return other == c })
	if len(m.watchers[key]) == 0 {
		delete(m.watchers, key)
	}
}

// changed tells the watchers of a key. The lock is held.
func (m *Memory) changed(key string) {
	for _, c := range m.watchers[key] {
		select {
		case c <- struct{}{}:
		default: // there is a value that was not taken yet
		}
	}
}

// Take takes one of n slots of a key in the holder's name; [ErrFull] if there is none.
func (m *Memory) Take(key string, n int, holder string) (*Slot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.slots[key]) >= n {
		return nil, ErrFull
	}
	if m.slots == nil {
		m.slots = map[string][]*Slot{}
	}
	slot := &Slot{holder: holder}
	slot.free = func() { m.freeSlot(key, slot) }
	m.slots[key] = append(m.slots[key], slot)
	return slot, nil
}

func (m *Memory) freeSlot(key string, slot *Slot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slots[key] = slices.DeleteFunc(m.slots[key], func(other *Slot) bool { return other == slot })
	if len(m.slots[key]) == 0 {
		delete(m.slots, key)
	}
}

// Holders are the names of those that hold a slot of the key now.
func (m *Memory) Holders(key string) (names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, slot := range m.slots[key] {
		names = append(names, slot.holder)
	}
	return names
}
