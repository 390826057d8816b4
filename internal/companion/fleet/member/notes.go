package member

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/companion/fleet/store"
)

const (
	// lookPause is how long the member does not look again after it has looked because of notes: many of them are one look.
	lookPause = 20 * time.Millisecond
	// maxKeys is for how many keys of a kind it looks one by one, and not at all there are.
	maxKeys = 64
)

// notes are those that have come since the member last looked: which keys of which kind.
type notes struct {
	waiting chan struct{} // has one if there are some

	mu   sync.Mutex
	keys map[string]map[string]bool // by kind
	last time.Time                  // when they were last taken
}

func newNotes() *notes {
	return &notes{waiting: make(chan struct{}, 1), keys: map[string]map[string]bool{}}
}

// add adds a note.
func (n *notes) add(note store.Note) {
	switch note.Kind {
	case store.NoteGate, store.NoteBudget, store.NoteSlot, store.NoteSlotFree, store.NoteMachine:
	default:
		return
	}
	if strings.ContainsRune(note.Key, 0) { // PostgreSQL has no such texts
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	first := len(n.keys) == 0
	keys := n.keys[note.Kind]
	if keys == nil {
		keys = map[string]bool{}
		n.keys[note.Kind] = keys
	}
	if len(keys) <= maxKeys {
		keys[note.Key] = true
	}
	if first {
		time.AfterFunc(lookPause-time.Since(n.last), func() { n.waiting <- struct{}{} })
	}
}

// take takes all of them. The keys of a kind are nil where all that there are have to be looked at.
func (n *notes) take() map[string][]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := map[string][]string{}
	for kind, keys := range n.keys {
		if taken[kind] = nil; len(keys) <= maxKeys && !keys[""] {
			taken[kind] = slices.Collect(maps.Keys(keys))
		}
	}
	n.keys, n.last = map[string]map[string]bool{}, time.Now()
	return taken
}

// look looks at what other members say has changed.
func (s *session) look(ctx context.Context, changed map[string][]string) error {
	for _, one := range []struct {
		kind string
		look func(context.Context, []string) error
	}{
		{store.NoteGate, s.gates.look},
		{store.NoteBudget, s.budgets.look},
		{store.NoteMachine, func(ctx context.Context, _ []string) error { return inTurn(ctx, s.gates.syncLive, s.slots.again) }},
		{store.NoteSlot, func(ctx context.Context, _ []string) error { return s.slots.look(ctx) }},
		{store.NoteSlotFree, func(ctx context.Context, _ []string) error { return s.slots.again(ctx) }},
	} {
		if keys, is := changed[one.kind]; is {
			if err := one.look(ctx, keys); err != nil {
				return err
			}
		}
	}
	return nil
}
