package member

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/companion/fleet/store"
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
