package engine

import (
	"context"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/trace"
	"github.com/belay-run/belay/retry"
)

// Run runs the invocation on the calling goroutine: attempts, verdicts, waits, until something is final. It is called
// once; [Runner.Start] does so itself.
func (inv *Invocation) Run() {
	defer close(inv.done)
	defer inv.cancel(nil)
	defer inv.viewers.Part()
	defer inv.stream.End()
	defer inv.viewers.End()
	inv.openState()
	defer inv.call.Live.Close()
	inv.spending.Begin(inv.pace.Ctx, inv.call)
	defer inv.spending.Close()
	defer admission.Begin(inv.call.ID, inv)()
	if option := inv.call.Traits.UnknownOption; option != "" {
		inv.call.Emit(belaytype.UnknownOption{Option: option})
	}
	var refused *admission.Refusal
	if inv.call.Settings.Schedule != (call.Schedule{}) {
		refused = inv.awaitStart()
	}
	if deadline, ok := inv.pace.Series.Deadline(); ok {
		ctx, stop := context.WithDeadlineCause(inv.pace.Ctx, deadline, retry.ErrTotalTimeout)
		defer stop()
		inv.pace.Ctx = ctx
	}
	defer inv.kind.release()
	var slot *gate.Slot
	if refused == nil {
		slot, refused = admission.EnterScope(inv.call, inv.pace, inv.call.Settings.Scope)
	}
	defer slot.Free()
	inv.attempts(refused)
}

// processGates and processScopes are what the invocations of this process share that keep no state.
var processGates, processScopes gate.Memory

// openState prepares records, log and what is shared. Trouble with them is said once and stops nothing.
func (inv *Invocation) openState() {
	c, r := inv.call, inv.call.Settings
	c.Shared, c.Scopes = r.Shared, r.Scopes
	if r.State == nil {
		if c.Shared == nil {
			c.Shared = &processGates
		}
		if c.Scopes == nil {
			c.Scopes = &processScopes
		}
		return
	}
	s := *r.State
	if !s.Ready {
		if err := s.Prepare(); err != nil {
			inv.troubleOnce.Do(func() { c.Emit(belaytype.StateTrouble{Err: err, Without: sharedSettings(c)}) })
			return
		}
	}
	c.State = &s
	if c.Project = r.Project; c.Project == "" {
		c.Project = label.Project(c.Dir())
	}
	inv.viewers.Sockets = s.Looks()
	if c.Shared == nil {
		c.Shared = s.Gates()
	}
	if c.Scopes == nil {
		c.Scopes = s.Scopes()
	}
	if !s.Ready {
		if ended, err := s.Records().Reclaim(); err == nil && len(ended) > 0 {
			c.Emit(belaytype.Reclaimed{Processes: processes(ended)})
		}
		s.Sweep()
	}
	c.Live.Open(&s, supervise.Record{ID: c.ID, Command: c.Command.Name(), Profile: c.Profile.Name(), Started: c.Begun, Attempt: 1,
		Name: r.Labels.Name, Tags: r.Labels.Tags, Project: c.Project, Parent: c.Parent, Telemetry: r.Telemetry, Traceparent: trace.OfEnviron(c.Env), Lines: printsLines(c.Profile), Secrets: c.Secrets,
		Batch: r.Task.Batch, Task: r.Task.ID, Line: r.Task.Line, Reported: r.NoRecord})
}

// sharedSettings names what the call was to share with others.
func sharedSettings(c *call.Call) (list []string) {
	if key := c.GateKey(); key != "" {
		list = append(list, "gate "+key)
	}
	if key := c.Settings.Scope; key != "" {
		list = append(list, "scope "+key)
	}
	for _, b := range c.Settings.Budgets {
		list = append(list, "budget "+b.Name)
	}
	return list
}

// awaitStart waits for the time that the invocation is scheduled for. What it may take, and wait for, counts from then on. A command that cannot be found is
// not waited for.
func (inv *Invocation) awaitStart() *admission.Refusal {
	c := inv.call
	if _, err := c.Settings.StarterInUse().Look(c.Command.Args[0], c.Command.Dir); err != nil {
		return nil // the first attempt says so
	}
	key, held := admission.NewGatekeeper(c, inv.pace).Held()
	begun, waited := time.Now(), false
	err := c.Settings.Schedule.Wait(inv.pace.Ctx, key, held, func(p call.Postponed) {
		waited = true
		c.Live.Update(supervise.StateWaiting, 1, p.Reason(), p.Until)
		if c.Settings.Postponed != nil {
			c.Settings.Postponed(p)
		}
	})
	if waited {
		inv.pace.Waits.Before += time.Since(begun)
		c.Emit(belaytype.WaitOver{CutShort: err != nil})
		c.Live.Update(supervise.StateRunning, 1, "", time.Time{})
	}
	if err != nil {
		return inv.pace.CutShort(c, err)
	}
	inv.pace.Series = inv.pace.Policy.Start(time.Now())
	return nil
}
