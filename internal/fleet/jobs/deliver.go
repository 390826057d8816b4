package jobs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/message"
)

// refuse leaves a job to other machines. If none of them runs it, why is its result.
func (w *Worker) refuse(ctx context.Context, a *attempt, why error) {
	w.Say(fmt.Sprintf("task %s is left to other machines: %v", a.task, why))
	data, err := json.Marshal(&fleetpipe.Outcome{Error: "no machine runs it: " + why.Error(), Begun: a.begun})
	if err == nil {
		data, err = a.key.seal(data, a.batch, a.task, a.hash)
	}
	if err == nil {
		w.reporter.report(ctx, report{fence: w.fenceOf(a), refusal: why.Error(), ifNone: data})
	}
}

// handOver gives back a job that this machine has not finished, because it leaves. If it may come back, a session that was begun waits for it.
func (w *Worker) handOver(ctx context.Context, a *attempt, folder folder) {
	r := report{fence: w.fenceOf(a)}
	w.mu.Lock()
	if !w.drained {
		r.session = cmp.Or(a.inSession, a.session) // the latter if what resumes it has not begun yet
	}
	w.mu.Unlock()
	w.reporter.report(ctx, r)
	folder.remove()
	if r.session == "" {
		w.clear(a.job)
	}
}

// keepAfter is how long PostgreSQL may take to get a result before it is kept on disk. A worker that is killed within that time has its job run again.
const keepAfter = 100 * time.Millisecond

// deliver reports a result. It waits while PostgreSQL is away; the result is on disk meanwhile.
func (w *Worker) deliver(ctx context.Context, a *attempt, outcome *fleetpipe.Outcome, folder folder) {
	f := w.fenceOf(a)
	folder = folder.move(w.folder(f))
	outcome.Machine, outcome.Attempt, outcome.Begun = w.Machine, f.attempt-a.refusals, a.begun
	outcome.Paid += a.paid
	if len(summaryOf(outcome).Left) == 0 {
		w.spares.remove(w.workDir(a.job))
	}
	w.clear(a.job)
	data, err := json.Marshal(outcome)
	if err == nil {
		data, err = a.key.seal(data, a.batch, a.task, a.hash)
	}
	accepted, digest := false, a.digest
	if outcome.Cancelled {
		digest = "" // that is not what it comes to
	}
	if err == nil {
		// Writing a file costs as much as the whole report, and most answers come before one is needed.
		kept := make(chan struct{})
		late := time.AfterFunc(keepAfter, func() {
			defer close(kept)
			folder.write(digestName, []byte(digest)) // without it, the same payload may run again
			if err := folder.keep(data); err != nil {
				w.Say(fmt.Sprintf("cannot write the result of task %s to disk: %v. If this machine is killed before PostgreSQL has it, the task runs again", a.task, err))
			}
		})
		var ok bool
		accepted, ok = w.reporter.report(ctx, report{fence: f, result: data, text: folder.text()})
		if !late.Stop() {
			<-kept
		}
		if !ok {
			return // the next start delivers it
		}
		if !accepted {
			w.Say(message.FleetTooLate(a.task))
		}
	}
	w.finish(folder, digest, data, accepted)
}

// finish keeps what was delivered, so that the same payload is not run again, or removes it.
func (w *Worker) finish(folder folder, digest string, data []byte, accepted bool) {
	if accepted && len(digest) == 2*sha256.Size {
		w.finished.add(folder, digest, data)
	}
	w.spares.remove(folder.dir)
}

// deliverAgain reports what this machine has reported of the same payload before.
func (w *Worker) deliverAgain(ctx context.Context, a *attempt) {
	w.Say(fmt.Sprintf("task %s has run on this machine already, and is not run again; its result is delivered again", a.task))
	w.mu.Lock()
	a.reported = true
	w.mu.Unlock()
	r := *a.earlier
	r.fence = w.fenceOf(a)
	w.reporter.report(ctx, r)
}
