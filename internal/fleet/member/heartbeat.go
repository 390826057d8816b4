package member

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/fleet/store"
)

// beat is what PostgreSQL has answered to a heartbeat.
type beat struct {
	ahead    time.Duration
	draining bool
}

// listen passes notes on, and says between them that the member lives: by the same connection, so that one that has died without a word is noticed.
func (s *session) listen(ctx context.Context, conn *pgx.Conn) error {
	due := time.Now().Add(store.Heartbeat)
	for {
		waiting, cancel := context.WithDeadline(ctx, due)
		note, err := conn.WaitForNotification(waiting)
		cancel()
		switch {
		case err == nil:
			if n := store.ParseNote(note.Payload); n.Machine != s.Name {
				s.notes.add(n)
			}
			if time.Now().Before(due) {
				continue
			}
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.Is(err, context.DeadlineExceeded) || conn.IsClosed():
			return s.store.Trouble(err)
		}
		b, err := s.beat(ctx, conn)
		if err != nil {
			return err
		}
		due = time.Now().Add(store.Heartbeat)
		select {
		case s.beats <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// beat says that the member lives, and measures how far our clock is ahead.
func (s *session) beat(ctx context.Context, conn *pgx.Conn) (beat, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	before, started := clock.Now(), time.Now()
	now, draining, err := store.Beat(ctx, conn, s.id, s.measured)
	if err != nil {
		return beat{}, s.store.Trouble(err)
	}
	s.measured = before.Add(time.Since(started) / 2).Sub(now)
	return beat{s.measured, draining}, nil
}

const (
	// worthwhile is the smallest difference that is corrected: a slow connection looks like a smaller one.
	worthwhile = 200 * time.Millisecond
	// steady is by how much a measured difference may vary without being corrected.
	steady = 100 * time.Millisecond
)

// adjust notes how far our clock is ahead of PostgreSQL's. The noted difference changes only by more than steady, so that times do not drift as they are carried back and forth.
func (s *session) adjust(ahead time.Duration) {
	switch {
	case ahead.Abs() < worthwhile:
		s.kept.ahead = 0
	case (ahead - s.kept.ahead).Abs() > steady:
		s.kept.ahead = ahead.Round(time.Millisecond)
	}
	s.clockAhead.Store(int64(s.kept.ahead))
}

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
