package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// Any role that can connect to a database can notify any channel of it. River believes what its notes say: one cancels a job, one pauses a queue, one has the leader resign. So
// River hears only that there are jobs, upon which it looks at its table. A note about anything else has the worker look at its rows, which say what was cancelled.

// insertTopic and controlTopic are River's names for the notes that say that there are jobs, and what is to be done with some.
const insertTopic, controlTopic = "river_insert", "river_control"

// lookPause is how long the worker does not look again after it has looked: many notes are one look.
const lookPause = 100 * time.Millisecond

// driver is River's, with a listener that passes on only what says that there are jobs.
type driver struct {
	*riverpgxv5.Driver
	look func() // has the worker look at its rows
}

// GetListener implements [riverdriver.Driver].
func (d *driver) GetListener(params *riverdriver.GetListenenerParams) riverdriver.Listener {
	return &listener{d.Driver.GetListener(params), d.look}
}

type listener struct {
	riverdriver.Listener
	look func()
}

// Listen implements [riverdriver.Listener]. Who leads is looked up in the table every few seconds, also without a note.
func (l *listener) Listen(ctx context.Context, topic string) error {
	if topic != insertTopic && topic != controlTopic {
		return nil
	}
	return l.Listener.Listen(ctx, topic)
}

// WaitForNotification implements [riverdriver.Listener].
func (l *listener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	for {
		note, err := l.Listener.WaitForNotification(ctx)
		if err != nil || note.Topic == insertTopic {
			return note, err
		}
		l.look()
	}
}

// ticks passes on the ticks of a clock, and one when rows are to be looked at: at most one in lookPause.
func ticks(ctx context.Context, clock <-chan time.Time, looks <-chan struct{}) <-chan time.Time {
	out := make(chan time.Time)
	go func() {
		for {
			var now time.Time
			select {
			case now = <-clock:
			case <-looks:
			case <-ctx.Done():
				return
			}
			select {
			case out <- now:
			case <-ctx.Done():
				return
			}
			select {
			case <-time.After(lookPause):
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}
