package member

import (
	"cmp"
	"context"
	"time"

	"github.com/belay-run/belay/internal/gatefile"
	"github.com/belay-run/belay/internal/message"
)

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
