package fleet

import (
	"context"
	"errors"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/fleetpipe"
)

// submitAll submits all tasks that need not wait for others, in one transaction; or so many of them, if atOnce is not 0.
func (l *Line) submitAll(ctx context.Context, b *batch.Batch, atOnce int) error {
	left, ok := b.Left()
	if !ok {
		return nil
	}
	n := 0
	open := map[taskKey]bool{}
	err := b.Unfinished(func(t *batch.Task, waits, failed bool) error {
		id := batch.TextID(t.ID)
		open[taskKey{id, t.Hash().String()}] = true
		l.mu.Lock()
		l.again[id] = failed
		l.mu.Unlock()
		if waits || atOnce > 0 && n >= atOnce {
			return nil // it is submitted when one of those before has ended
		}
		task, err := l.caller.Task(t, t.Hash(), l.limit(t, left), failed)
		if err != nil {
			return nil // it fails when its turn comes
		}
		n++
		l.mu.Lock()
		l.sent[id] = true
		l.mu.Unlock()
		l.pipe.writing.Lock()
		defer l.pipe.writing.Unlock()
		return l.pipe.write(&fleetpipe.Order{Task: task})
	})
	if err == nil && !b.Streamed() {
		l.mu.Lock()
		l.open = open
		l.discard()
		l.mu.Unlock()
	}
	if err == nil && len(open) == 0 && !b.Streamed() {
		return nil
	}
	if err == nil { // also if there are none yet: files that are missing later are the fault of one task, not of the batch
		err = l.pipe.send(fleetpipe.Order{Submit: true})
	}
	select {
	case <-l.submitted:
		if l.refused != "" {
			return command.Usage(errors.New(l.refused), "")
		}
	case <-l.pipe.done:
	case <-ctx.Done():
		l.pipe.send(fleetpipe.Order{Cancel: true}) // no task is followed yet, and machines may work on them already
	}
	if ended, ok := errors.AsType[*Ended](context.Cause(ctx)); ok && ended.said == "" && ended.code != 0 {
		return command.Exit(ended.code) // it has said why
	}
	if ctx.Err() != nil {
		return nil // which is said elsewhere
	}
	return err
}
