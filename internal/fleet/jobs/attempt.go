package jobs

import (
	"context"
	"errors"

	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
)

// attempt is a job that this machine works on.
type attempt struct {
	claimed
	key       *Key    // with which its payload was sealed
	digest    string  // of the payload; empty where the fleet has no key
	earlier   *report // of the same payload; nil if this machine has delivered none
	cancel    context.CancelCauseFunc
	ended     chan struct{} // closed when nothing of it runs any more
	runID     string        // the mark of what it runs
	profile   string
	doing     string
	cost      float64
	inSession string // in which its agent works now
	reported  bool   // its result is on its way
}

// errNotBegun is in errors of jobs that this machine could not begin: it does not allow them, its disk is full, or it cannot get the files. Others may be able to.
var errNotBegun = errors.New("not begun")

// errExpired is in the error of a job that was not begun in time. Other machines would not begin it either.
var errExpired = errors.New("expired")

// errGone is in the error of a job that was taken back while this machine was about to begin it.
var errGone = errors.New("it was taken back")

// Why an attempt is stopped.
var (
	errLost      = errors.New("another machine works on it")
	errCancelled = errors.New("its batch was stopped")
	errLeaving   = errors.New("this machine leaves the fleet")
)

// work works on a job until its result is on its way, or the job belongs to another machine.
func (w *Worker) work(ctx context.Context, c claimed) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &attempt{claimed: c, key: w.Key, cancel: cancel, ended: make(chan struct{}), runID: engine.NewID()}
	w.hold(a)
	drop := true
	defer func() {
		if drop {
			w.drop(a)
		}
	}()
	folder := w.folder(c.fence)
	discard := func() {
		folder.remove()
		w.clear(c.job)
	}
	outcome, err := w.run(ctx, a, folder)
	is := summaryOf(outcome)
	if a.begun == "resumed" && outcome.Head() != nil && !is.Resumed {
		a.begun = "restarted" // the session was gone
	}
	if cause := context.Cause(ctx); errors.Is(cause, errLost) {
		w.Say(message.FleetTooLate(c.task))
		discard()
		return
	} else if a.earlier != nil {
		w.deliverAgain(context.WithoutCancel(ctx), a)
		discard()
		return
	} else if errors.Is(cause, errLeaving) && !is.Success {
		w.handOver(context.WithoutCancel(ctx), a, folder)
		return
	} else if errors.Is(err, errGone) {
		discard()
		return
	} else if cause != nil {
		outcome.Cancelled = true
	} else if errors.Is(err, errNotBegun) {
		w.refuse(context.WithoutCancel(ctx), a, err)
		discard()
		return
	}
	if err != nil {
		outcome.Error = err.Error()
	}
	drop = false
	w.mu.Lock()
	a.reported = true
	w.mu.Unlock()
	finish := func() {
		w.deliver(context.WithoutCancel(ctx), a, outcome, folder)
		w.drop(a)
	}
	select {
	case w.pending <- struct{}{}: // the next job begins meanwhile
		w.delivered.Go(func() {
			finish()
			<-w.pending
		})
	default: // PostgreSQL takes its time, or is away
		finish()
	}
}

// hold notes that this machine works on a job, and waits until an earlier attempt of the same job has ended here.
func (w *Worker) hold(a *attempt) {
	w.mu.Lock()
	var earlier []*attempt
	for _, other := range w.held {
		if other.job == a.job {
			earlier = append(earlier, other)
		}
	}
	w.held[a.fence] = a
	w.mu.Unlock()
	for _, other := range earlier {
		other.cancel(errLost)
		<-other.ended
	}
}

// drop notes that this machine does not work on a job any more.
func (w *Worker) drop(a *attempt) {
	w.mu.Lock()
	delete(w.held, a.fence)
	w.mu.Unlock()
	close(a.ended)
}

// fenceOf is the job as this machine works on it now: see [Worker.renew].
func (w *Worker) fenceOf(a *attempt) fence {
	w.mu.Lock()
	defer w.mu.Unlock()
	return a.fence
}
