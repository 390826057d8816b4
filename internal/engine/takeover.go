package engine

import (
	"errors"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// fallBack is the candidate that takes the place of the present one, which has ended so; nil if there is none.
func (inv *Invocation) fallBack(f *finisher, j *judgement, stop *retry.Error) *candidate {
	if len(inv.standIns)+len(inv.unfit) == 0 || !outlasts(j, stop) || f.decider.ended() != nil || inv.spending.check() != nil {
		return nil
	}
	r := inv.call.runner
	skip := func(name, why string) { inv.call.emit(belaytype.FallbackSkipped{Fallback: name, Why: why}) }
	for _, refused := range inv.unfit {
		skip(refused.Fallback, refused.Why)
	}
	inv.unfit = nil
	if len(inv.standIns) > 0 && f.cand.worked && !r.FallbackAfterWork {
		skip(inv.standIns[0].Name(), inv.call.causeText(&WorkDone{Command: f.cand.call.command.name()}))
		return nil
	}
	for len(inv.standIns) > 0 {
		s := inv.standIns[0]
		inv.standIns = inv.standIns[1:]
		next := inv.standInFor(&s, f.cand)
		_, err := s.agent.Plan(next.kind.(*turn).next)
		switch {
		case err != nil:
			skip(s.Name(), err.Error())
		case j.account.AllModels && s.agent.Info().Gate == f.cand.call.traits.gate:
			newGatekeeper(next.call, next.pace).shareHold(j.verdict)
			skip(s.Name(), "the limit is that of the account, for all models")
		default:
			return next
		}
	}
	return nil
}

// outlasts reports whether the agent was stopped by something that lasts longer than may be waited, and that another agent need
// not have: a limit, an overload, a gate that is closed for either.
func outlasts(j *judgement, stop *retry.Error) bool {
	if stop == nil || j.noRepeat != nil {
		return false
	}
	if _, spent := errors.AsType[*belaytype.MaxCostReached](stop.Cause); spent {
		return false
	}
	if closed, ok := errors.AsType[*belaytype.GateRefused](stop.Cause); ok {
		return closed.Refusal.Kind != gate.KindSlots // which is the caller's own limit
	}
	class := j.verdict.Class
	return j.started() && (class.Throttle() || class == verdict.Overloaded || class == verdict.WrongModel && j.verdict.Retryable)
}

// standInFor is a fallback as a candidate, after another one. What was read of stdin, used and waited so far stays.
func (inv *Invocation) standInFor(s *standIn, before *candidate) *candidate {
	r := *before.call.runner
	r.Profile, r.Resume.Session, r.Gate.Key, r.Judge, r.RequireModel = s.agent, "", "", s.Judge, ""
	if s.Policy != nil {
		total, wait := r.Policy.TotalTimeout, r.Policy.MaxWait
		r.Policy = *s.Policy
		r.Policy.TotalTimeout, r.Policy.MaxWait = total, wait
	}
	if key := s.agent.Info().Gate; key != "" && s.Model != "" && (key == inv.call.gateKey() || key == before.call.traits.gate) {
		r.Gate.Key = key + ":" + agent.KeyPart(s.Model) // a limit may be that of one model
	}
	c := *inv.call
	c.runner, c.profile = &r, s.agent
	c.command.Args, c.command.Dir, c.command.Prompt, c.command.Stdin = s.args, s.dir, s.prompt, nil
	p := &pace{ctx: before.pace.ctx, noWait: before.pace.noWait, waits: before.pace.waits}
	k := newKind(&c, p, before.spending).(*turn)
	last := before.kind.(*turn)
	k.first.Stdin, k.sessions.usage = last.first.Stdin, last.sessions.usage
	k.next = k.first
	c.traits = k.traits()
	p.policy = k.policy(r.Policy)
	p.series = before.pace.series.Switch(p.policy)
	return &candidate{call: &c, pace: p, kind: k, control: before.control, spending: before.spending, login: login{file: c.traits.login}, fallback: s.Name(), budgets: s.Budgets}
}

// giveUp puts on record that a candidate could not take the request, and that another one is asked. A refusal is on record only where it
// ends the run.
func (f *finisher) giveUp(n int, j *judgement, stop *retry.Error) {
	f.errors = append(f.errors, j.message)
	if j.started() {
		f.recorder.line(n, j, 0, nil, false, nil)
		f.cand.call.emit(belaytype.AttemptFailed{Attempt: n, Verdict: j.verdict, Message: j.message, Stderr: j.stderr()})
	}
	j.discard()
	f.cand.kind.(*turn).sessions.end(false, j.verdict.Class)
	f.earliest.note(f.cand.call.command.name(), stop.NotBefore)
}

// handOver lets another candidate take the place of the present one, which was stopped so. n is the number of its first attempt.
func (f *finisher) handOver(next *candidate, n int, j *judgement, stop *retry.Error) {
	c := next.call
	c.emit(belaytype.FellBack{From: f.cand.call.command.name(), To: next.fallback, Verdict: j.verdict, Until: stop.NotBefore})
	next.spending.handOver(c, next.budgets)
	c.live.fellBack(c.command.name(), c.profile.Name(), n)
}

// wayBack is when an agent that could not take the request may be asked again.
type wayBack struct {
	name string
	at   time.Time
}

// note notes a time, if it is known and the earliest so far.
func (w *wayBack) note(name string, at time.Time) {
	if !at.IsZero() && (w.at.IsZero() || at.Before(w.at)) {
		*w = wayBack{name, at}
	}
}

// before reports whether it comes before another time, or that is not known.
func (w *wayBack) before(at time.Time) bool {
	return !w.at.IsZero() && (at.IsZero() || w.at.Before(at))
}
