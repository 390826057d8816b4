package engine

import (
	"slices"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/retry"
)

// fallBack is the candidate that takes the place of the present one, which has ended so; nil if there is none.
func (inv *Invocation) fallBack(f *finisher, j *judgement, stop *retry.Error) *candidate {
	if len(inv.standIns)+len(inv.unfit) == 0 || !outlasts(j, stop) || f.decider.ended() != nil || inv.spending.Check() != nil {
		return nil
	}
	r := inv.call.Settings
	skip := func(name, why string) { inv.call.Emit(belaytype.FallbackSkipped{Fallback: name, Why: why}) }
	for _, refused := range inv.unfit {
		skip(refused.Fallback, refused.Why)
	}
	inv.unfit = nil
	if len(inv.standIns) > 0 && f.cand.worked && !r.FallbackAfterWork {
		skip(inv.standIns[0].Name(), inv.call.CauseText(&call.WorkDone{Command: f.cand.call.Command.Name()}))
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
		case j.account.AllModels && s.agent.Info().Gate == f.cand.call.Traits.Gate:
			admission.NewGatekeeper(next.call, next.pace).ShareHold(j.verdict)
			skip(s.Name(), "the limit is that of the account, for all models")
		default:
			return next
		}
	}
	return nil
}

// standInFor is a fallback as a candidate, after another one. What was read of stdin, used and waited so far stays.
func (inv *Invocation) standInFor(s *standIn, before *candidate) *candidate {
	r := *before.call.Settings
	r.Profile, r.Resume.Session, r.Gate.Key, r.Judge, r.RequireModel = s.agent, "", "", s.Judge, ""
	if s.Policy != nil {
		total, wait := r.Policy.TotalTimeout, r.Policy.MaxWait
		r.Policy = *s.Policy
		r.Policy.TotalTimeout, r.Policy.MaxWait = total, wait
	}
	if key := s.agent.Info().Gate; key != "" && s.Model != "" && (key == inv.call.GateKey() || key == before.call.Traits.Gate) {
		r.Gate.Key = key + ":" + agent.KeyPart(s.Model) // a limit may be that of one model
	}
	c := *inv.call
	c.Settings, c.Profile = &r, s.agent
	c.Command.Args, c.Command.Dir, c.Command.Prompt, c.Command.Stdin = s.args, s.dir, s.prompt, nil
	p := &admission.Pace{Ctx: before.pace.Ctx, NoWait: before.pace.NoWait, Waits: before.pace.Waits}
	k := newKind(&c, p, before.spending).(*turn)
	last := before.kind.(*turn)
	k.first.Stdin, k.sessions.Usage = last.first.Stdin, last.sessions.Usage
	k.next = k.first
	c.Traits = k.traits()
	p.Policy = k.policy(r.Policy)
	p.Series = before.pace.Series.Switch(p.Policy)
	return &candidate{call: &c, pace: p, kind: k, control: before.control, ground: before.ground, spending: before.spending, login: admission.Login{File: c.Traits.Login}, fallback: s.Name(), budgets: s.Budgets}
}

// giveUp puts on record that a candidate could not take the request, and that another one is asked. A refusal is on record only where it
// ends the run.
func (f *finisher) giveUp(n int, j *judgement, stop *retry.Error, next string) {
	f.errors = append(f.errors, j.message)
	if j.started() {
		f.recorder.line(n, j, sequel{why: "falling back to " + next})
		f.cand.call.Emit(belaytype.AttemptFailed{Attempt: n, Verdict: j.verdict, Message: j.message, Stderr: j.stderr()})
	}
	j.discard()
	f.cand.kind.(*turn).sessions.End(false, j.verdict.Class)
	f.earliest.note(f.cand.call.Command.Name(), stop.NotBefore)
}

// handOver lets another candidate take the place of the present one, which was stopped so. n is the number of its first attempt.
func (f *finisher) handOver(next *candidate, n int, j *judgement, stop *retry.Error) {
	c := next.call
	c.Emit(belaytype.FellBack{From: f.cand.call.Command.Name(), To: next.fallback, Verdict: j.verdict, Until: stop.NotBefore})
	next.spending.HandOver(c, next.budgets)
	c.Live.FellBack(c.Command.Name(), c.Profile.Name(), n)
}

// addFallbacks finds out how the fallbacks are started. The error is a [*UsageError].
func (inv *Invocation) addFallbacks() (err error) {
	inv.standIns, inv.unfit, err = standIns(inv.call.Settings, &inv.call.Command.Command)
	known := inv.call.Secrets
	for _, s := range inv.standIns {
		known.Args = slices.Concat(known.Args, s.args)
	}
	return err
}
