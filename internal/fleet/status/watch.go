package status

import (
	"context"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/internal/spool"
	"github.com/belay-run/belay/internal/term"
)

const (
	// watchEvery is how often PostgreSQL is asked while a page is open.
	watchEvery = time.Second
	// watchFor is how long it is asked after a page has last wanted to know.
	watchFor = 10 * time.Second
	// watchWithin is how long PostgreSQL may take to answer.
	watchWithin = 5 * time.Second
)

// Watch knows what the fleet does, for belay ui. It asks while a page wants to know, and answers at once.
type Watch struct {
	store *store.Store

	mu     sync.Mutex
	asked  time.Time
	now    view.Now
	stamp  string
	at     time.Time // when that was so
	asking bool
	away   error
}

// NewWatch makes one of what is so now.
func NewWatch(ctx context.Context, s *store.Store) *Watch {
	w := &Watch{store: s, now: nothingRuns()}
	w.look(ctx)
	return w
}

// Now implements [view.Fleet].
func (w *Watch) Now() view.Now {
	w.want()
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now
	if w.away != nil {
		now.Trouble = w.away.Error()
		if !w.at.IsZero() {
			now.Trouble = message.FleetAsOf(w.away, w.at.Local().Format(time.DateTime), term.Span(time.Since(w.at).Truncate(10*time.Second)))
		}
	}
	return now
}

// Stamp implements [view.Fleet].
func (w *Watch) Stamp() string {
	w.want()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stamp
}

// want has PostgreSQL asked for a while.
func (w *Watch) want() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = time.Now()
	if !w.asking {
		w.asking = true
		go w.watch()
	}
}

// watch asks until no page wants to know any more.
func (w *Watch) watch() {
	for {
		w.look(context.Background())
		time.Sleep(watchEvery)
		w.mu.Lock()
		if time.Since(w.asked) > watchFor {
			w.asking = false
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
	}
}

// look asks once.
func (w *Watch) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, watchWithin)
	defer cancel()
	now, stamp, err := w.ask(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away = err; err == nil {
		w.now, w.stamp, w.at = now, stamp, time.Now()
	}
}

func nothingRuns() view.Now {
	return view.Now{Runs: []view.Run{}, Ended: []spool.Header{}, Gates: []view.Gate{}, Budgets: []overview.Budget{}, Limits: []overview.Limit{}, Fleet: true}
}

func (w *Watch) ask(ctx context.Context) (now view.Now, stamp string, err error) {
	now = nothingRuns()
	runs, err := Runs(ctx, w.store)
	if err != nil {
		return now, "", err
	}
	gates, limits, err := Gates(ctx, w.store, runs)
	if err != nil {
		return now, "", err
	}
	machines, err := w.store.Machines(ctx)
	if err != nil {
		return now, "", err
	}
	for _, r := range runs {
		now.Runs = append(now.Runs, view.NewRun(r.Record, r.PID, r.Machine))
	}
	now.Limits = limits
	for _, g := range gates {
		now.Gates = append(now.Gates, view.NewGate(g))
	}
	for _, m := range machines {
		if m.Away() && !m.Left {
			now.Trouble = message.FleetAway(m.Name, term.Span(m.Silent.Truncate(10*time.Second)))
		}
	}
	stamp, err = w.store.LogStamp(ctx)
	return now, stamp, err
}
