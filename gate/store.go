package gate

import (
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/internal/gatefile"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/sharedfile"
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

// ErrLocked says that a file could not be changed because others were changing it all the time. The change was not made.
var ErrLocked = sharedfile.ErrLocked

// file is the file of a key.
func (f *Files) file(key string) sharedfile.File {
	return sharedfile.File{Path: f.path(key), Damaged: ErrDamaged, Try: f.try}
}

// path is the file of a key.
func (f *Files) path(key string) string { return filepath.Join(f.Dir, gatefile.Name(key)+".json") }

// keyIn is the key as it is written into a file: JSON has only valid UTF-8.
func keyIn(key string) string { return strings.ToValidUTF8(key, "\uFFFD") }

// replace writes a file as a whole or not at all.
func replace(lock *sharedfile.Lock, c content) error {
	c.State.Hold.Reason, c.State.Breaker.Reason = redact.Text(c.State.Hold.Reason), redact.Text(c.State.Breaker.Reason)
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return lock.Replace(append(data, '\n'))
}

// Row returns how many failures in a row a gate remembers whose breaker is closed, and how many open it. If the store
// cannot be read, failures is 0.
func (g *Gate) Row() (failures, of int) {
	of = cmp.Or(max(g.Settings.Breaker.Failures, 0), breaker.DefaultFailures)
	state, err := g.Store.Load(g.Key)
	if err != nil || state.Breaker.Phase != breaker.Closed {
		return 0, of
	}
	return state.Breaker.Failures, of
}
