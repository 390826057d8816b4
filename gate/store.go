package gate

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Store keeps states by key. A store that cannot do so returns an error, and its caller goes on without a gate: a gate
// exists to make work dependable, not to stop it. Package gatetest has the tests that every store passes.
type Store interface {
	// Load returns the state of a key; the zero State if there is none. It does not wait for updates.
	Load(key string) (State, error)
	// Update changes the state of a key atomically. What is healthy at now is forgotten. change may be called more
	// than once, and must not use the store.
	Update(key string, now time.Time, change func(State) State) error
	// List returns the keys that have a state, in order.
	List() ([]Entry, error)
}

// Entry is a key and its state.
type Entry struct {
	Key   string `json:"key"`
	State State  `json:"state"`
}

// Memory is a [Store] for one process, which also tells of changes and has slots, as [Files] has.
// The zero value works. It must not be copied after its first use.
type Memory struct {
	mu       sync.Mutex
	states   map[string]State
	slots    map[string][]*Slot
	watchers map[string][]chan struct{}
}

// Load implements Store.
func (m *Memory) Load(key string) (State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.states[key].clone(), nil
}

// Update implements Store.
func (m *Memory) Update(key string, now time.Time, change func(State) State) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.changed(key)
	s := change(m.states[key].clone()).clone()
	if s.Healthy(now) {
		delete(m.states, key)
		return nil
	}
	if m.states == nil {
		m.states = map[string]State{}
	}
	m.states[key] = s
	return nil
}

// List implements Store.
func (m *Memory) List() ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return sorted(m.states), nil
}

// sorted lists states by key.
func sorted(states map[string]State) []Entry {
	var list []Entry
	for _, key := range slices.Sorted(maps.Keys(states)) {
		list = append(list, Entry{key, states[key].clone()})
	}
	return list
}
