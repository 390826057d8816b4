package batch

import (
	"context"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/detach"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/setup"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
)

// awaitStart waits for the time that the batch is scheduled for, and tells the belay that has detached this one that it is on its way. If the context ends
// meanwhile, no task is started.
func (r *taskRunner) awaitStart(ctx context.Context, record *supervise.Record) {
	detach.Of(ctx).Begun()
	schedule := detach.LaterOf(ctx).Schedule()
	if schedule == (engine.Schedule{}) {
		return
	}
	key, held := r.held()
	stop := func() {}
	schedule.Wait(ctx, key, held, func(p engine.Postponed) {
		stop()
		stop = r.view.postponed(p)
		r.tellWaiting(record, supervise.StateWaiting, p.Reason(), p.Until)
	})
	stop()
	r.tellWaiting(record, supervise.StateRunning, "", time.Time{})
}

// tellWaiting says in the record of the batch what it waits for.
func (r *taskRunner) tellWaiting(record *supervise.Record, state, reason string, until time.Time) {
	if record == nil {
		return
	}
	record.State, record.Reason, record.Until = state, reason, until
	if err := record.Update(); err != nil {
		r.view.once("state", message.NoRecord(nil, err))
	}
}

// held is the gate of the command that all tasks have, and what says what holds it; an empty key if there is none.
func (r *recipe) held() (key string, held func() *gate.Refusal) {
	t, c := &batch.Task{}, taskCommand{args: r.template.Command(), dir: r.given["cwd"], env: r.env}
	s := &state.State{}
	if len(c.args) == 0 || r.bind(t, &c) != nil || s.Prepare() != nil {
		return "", nil
	}
	l, err := r.load(setup.NameOf(c.known))
	if err != nil {
		return "", nil
	}
	runner, err := r.newRunner(l, t, &c)
	if err != nil {
		return "", nil
	}
	return runner.Held(s.Gates(), belaytype.Command{Args: c.args, Dir: c.dir, Env: c.env})
}
