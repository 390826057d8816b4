package call

import (
	"context"
	"fmt"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/retry"
)

// Schedule says when the first attempt may start. The zero value means at once.
type Schedule struct {
	// At is the time of day before which nothing starts.
	At time.Time
	// WhenLifted also waits for the end of the limit that holds the gate, however late that is; a gate without one is not waited for.
	WhenLifted bool
}

// Postponed is what a scheduled start waits for: a time of day, or the end of a limit.
type Postponed struct {
	// Until is when that is; of a limit it may change.
	Until time.Time
	// Key is the gate whose limit is waited for, and Refusal what it says; empty for a time of day.
	Key     string
	Refusal gate.Refusal
}

// schedulePoll is how often the clock is looked at while a start is waited for.
const schedulePoll = 700 * time.Millisecond

// Wait waits until the time has come. held is what holds the gate of a key, nil if nothing does. tell is told what is waited for, and again when that
// changes. The error is why the context has ended.
//
// The clock is looked at again and again: a timer does not run while the machine is suspended, and does not notice that the clock was set.
func (s Schedule) Wait(ctx context.Context, key string, held func() *gate.Refusal, tell func(Postponed)) error {
	var told Postponed
	for {
		p, due := s.next(key, held)
		if due {
			return nil
		}
		if told.Until.IsZero() || told.Key != p.Key || told.Until.Sub(p.Until).Abs() >= time.Second {
			told = p
			tell(p)
		}
		left := schedulePoll
		if !p.Until.IsZero() {
			left = max(min(left, p.Until.Sub(clock.Now())), time.Millisecond)
		}
		if retry.Sleep(ctx, left) != nil {
			return context.Cause(ctx)
		}
	}
}

// next is what has to be waited for now; due says that there is nothing.
func (s Schedule) next(key string, held func() *gate.Refusal) (p Postponed, due bool) {
	if at := s.At.Round(0); at.After(clock.Now()) { // by the time of day, not by what a stopwatch shows
		return Postponed{Until: at}, false
	}
	if s.WhenLifted && key != "" {
		if r := held(); r != nil && r.Kind == gate.KindHold {
			return Postponed{Until: r.Until, Key: key, Refusal: *r}, false
		}
	}
	return Postponed{}, true
}

// Reason says in words what is waited for, for the record of a run.
func (p Postponed) Reason() string {
	if p.Key == "" {
		return "its start time"
	}
	return fmt.Sprintf("gate %s: %s", p.Key, message.GateState(p.Refusal))
}
