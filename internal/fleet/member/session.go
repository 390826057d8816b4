package member

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/gatefile"
	"github.com/belay-run/belay/internal/message"
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
	if s.id, err = db.Join(beginning, store.Machine{Name: m.Name, Instance: m.instance, Version: m.Version, Labels: append([]string{}, m.Labels...), Generation: keep.last}); err != nil {
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

// loop does all the work, one thing after the other.
func (s *session) loop(ctx context.Context, changes *changes, t *trouble) error {
	begun := time.Now()
	if err := inTurn(ctx, s.gates.syncAll, s.slots.renew, s.slots.adopt, s.slots.scan, s.budgets.scan); err != nil {
		if ctx.Err() != nil {
			return context.Canceled
		}
		return err
	}
	t.joined(!s.kept.joined)
	s.kept.joined = true
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var due time.Time // frequent notes must not put it off
	for {
		next := s.gates.next()
		if len(s.slotFiles.wanted) > 0 {
			next = min(next, retryTime)
		}
		if s.slotFiles.elsewhere {
			next = min(next, giveTime)
		}
		if at := time.Now().Add(next); due.IsZero() || at.Before(due) {
			due = at
		}
		timer.Reset(time.Until(due))
		var err error
		select {
		case <-ctx.Done():
			return context.Canceled
		case err := <-s.ended:
			return cmp.Or(err, error(context.Canceled))
		case b := <-s.beats:
			s.adjust(b.ahead)
			gatefile.InTouch(s.slots.dir, time.Now())
			if time.Since(begun) > steadyTime {
				t.over()
			}
			if b.draining && !s.kept.draining {
				s.kept.draining = true
				s.Say(message.FleetDraining(s.Name))
				s.drain()
			}
			err = inTurn(ctx, s.gates.tidy, s.slots.renew, s.budgets.renew)
		case <-s.notes.waiting:
			err = s.look(ctx, s.notes.take())
		case <-changes.happened:
			err = inTurn(ctx, s.gates.scan, s.slots.scan, s.budgets.scan)
		case <-timer.C:
			due = time.Time{}
			err = inTurn(ctx, s.gates.tick, s.slots.tick)
		}
		if err != nil {
			if ctx.Err() != nil {
				return context.Canceled
			}
			return err
		}
	}
}

// inTurn does one thing after the other, up to the first that fails.
func inTurn(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}
