package member

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/companion/fleet/store"
	"github.com/belay-run/belay/internal/gatefile"
)

// kept is what a member remembers from one connection to the next.
type kept struct {
	joined   bool // at least once
	draining bool
	last     int64 // generation that it has had
	gates    map[string]*shared
	ahead    time.Duration // of our clock, as times are converted
	fleet    string        // whose gates these are
	before   int           // how many machines come before this one
	news     bool          // of gates, since they were last written down

	clockAhead atomic.Int64 // ahead, for goroutines other than the loop
	saying     sync.Mutex
	said       map[string]bool // of trouble with the log and with runs
	*slotFiles
}

func newKept() *kept {
	return &kept{said: map[string]bool{}, gates: map[string]*shared{}, slotFiles: newSlotFiles()}
}

// session is a member while it is connected.
type session struct {
	*Member
	*kept
	store   *store.Store
	id      store.Identity
	gates   *gates
	slots   *slots
	budgets *budgets
	beats   chan beat
	notes   *notes
	ended   chan error

	shipper *Shipper
	// measured is how far our clock is ahead, by the last heartbeat.
	measured time.Duration
}

// session takes part until the connection is lost or the context ends.
func (m *Member) session(ctx context.Context, changes *changes, keep *kept, t *trouble) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	beginning, endBeginning := context.WithTimeout(ctx, beginWithin)
	defer endBeginning()
	db, err := store.Open(beginning, m.Address)
	if err != nil {
		return err
	}
	defer db.Close()
	s := &session{Member: m, kept: keep, store: db, beats: make(chan beat, 1), notes: newNotes(), ended: make(chan error, 1)}
	if s.id, err = db.Join(beginning, store.Machine{Name: m.Name, Instance: m.instance, Version: m.Version, Labels: nonNil(m.Labels), Generation: keep.last}); err != nil {
		return err
	}
	keep.last = s.id.Generation
	conn, err := db.MemberListener(beginning, s.id)
	if err != nil {
		return err
	}
	s.gates = &gates{session: s, files: m.State.Gates()}
	s.slots = &slots{session: s, dir: s.gates.files.Dir}
	s.budgets = &budgets{session: s, told: map[string]budget.Own{}}
	first, err := s.beat(ctx, conn)
	if err != nil {
		conn.Close(ctx)
		return err
	}
	s.adjust(first.ahead)
	if err := s.recall(ctx); err != nil {
		conn.Close(ctx)
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer conn.Close(context.WithoutCancel(ctx))
		s.ended <- s.listen(ctx, conn)
	}()
	s.shipper = &Shipper{Store: db, ID: s.id, Dir: m.State.Dir, Ahead: func() time.Duration { return time.Duration(s.clockAhead.Load()) }}
	var beside sync.WaitGroup
	beside.Go(func() { s.shipLog(ctx) })
	beside.Go(func() { s.shareRuns(ctx) })
	err = s.loop(ctx, changes, t)
	s.keepAgreed()
	cancel()
	<-done
	beside.Wait()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		s.leave()
	}
	return err
}

func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// leave gives everything back.
func (s *session) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), askWithin)
	defer cancel()
	s.gates.open()
	s.shipper.Ship(ctx) // what was logged since; the rest is shipped when it joins again
	busy := s.slots.inUse()
	if gatefile.InTouch(s.slots.dir, time.Now()); s.kept.draining {
		gatefile.InTouch(s.slots.dir, time.Time{})
	}
	if s.store.Leave(ctx, s.id, busy...) == nil {
		s.Say(s.Name + " has left the fleet")
	}
}
