package gate

import (
	"errors"
	"os"
	"time"
)

// The tests drive the state by itself, as [Gate] does.

type Ticket = admission

func (s State) Ask(set Settings, now time.Time, holder string) (State, Ticket, *Refusal) {
	return s.ask(set, now, holder)
}

func (s State) Answered(set Settings, now time.Time, t Ticket) State { return s.answered(set, now, t) }

func (s State) Succeeded(set Settings, now time.Time, t Ticket) State {
	return s.succeeded(set, now, t)
}

func (s State) Throttled(set Settings, now time.Time, t Ticket, hint time.Duration, reason string) State {
	return s.throttled(set, now, t, hint, reason)
}

func (s State) Failed(set Settings, now time.Time, t Ticket, jitter float64, reason string) State {
	return s.failed(set, now, t, jitter, reason)
}

func (s State) Released(t Ticket) State { return s.released(t) }

func (s State) Renewed(set Settings, now time.Time, t Ticket) State { return s.renewed(set, now, t) }

func (s State) Spend(now time.Time) (State, bool) { return s.spend(now) }

func (b Budget) Left(now time.Time) float64 { return b.left(now) }

func (b Budget) Next(now time.Time) time.Time { return b.next(now) }

// FilesWithoutLocks are kept on a file system that has no locks.
func FilesWithoutLocks(dir string) *Files {
	return &Files{Dir: dir, try: func(*os.File) (bool, error) { return false, errors.ErrUnsupported }}
}

// FilesWithBrokenLocks are kept on one whose locks fail.
func FilesWithBrokenLocks(dir string) *Files {
	return &Files{Dir: dir, try: func(*os.File) (bool, error) { return false, errors.New("input/output error") }}
}
