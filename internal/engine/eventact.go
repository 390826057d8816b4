package engine

import (
	"errors"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// act carries out what follows from what the CLI has told.
func (t *eventLog) act(info agent.LineInfo) {
	now, c := time.Now(), t.call
	if t.bounds.agents > 0 && t.follower.SubAgents != nil {
		info.SubAgents = t.follower.SubAgents()
	}
	a := t.change(func(p progress) (progress, actions) { return p.told(t.bounds, info, now) })
	t.waited(a)
	if a.answered {
		t.admission.answered()
	}
	t.untold = t.untold || !c.tellQuota(info.Quota)
	if a.report {
		t.report(info)
	}
	t.spend(info, a.charge)
	if a.model {
		t.compareModel(info.Models)
	}
	if a.agents > 0 {
		t.stop(tooManyAgents(c.command.name(), a.agents, t.bounds.agents))
	}
	if a.repeated.times > 0 {
		t.stop(tooManyRepeats(c.command.name(), a.repeated, t.bounds.repeats, c.secrets))
	}
	if a.turnOver {
		t.judgeTurn(now)
	}
	if a.retrying != nil {
		t.retrying(a.retrying, now)
	}
}

// waited counts what the CLI has waited by itself.
func (t *eventLog) waited(a actions) {
	if a.unlimited > 0 {
		t.pace.charge(a.unlimited)
	}
	t.pace.waits.inner += a.slept
	if t.alarm != nil {
		t.alarm.Stop()
	}
}

// report takes note of the session as soon as it has a name, and puts on record what the agent is doing.
func (t *eventLog) report(info agent.LineInfo) {
	account, p := t.follower.Account(), t.now()
	if p.session == "" && account.Session != "" {
		t.change(func(p progress) (progress, actions) {
			p.session = account.Session
			return p, actions{}
		})
		t.sessions.begin(account.Session, p.begun)
	}
	used := t.sessions.soFar(account.Priced())
	t.call.live.progress(activity(info, &account), used)
	t.call.report(info, used)
}

// activity says in a word or two what an agent is doing.
func activity(info agent.LineInfo, account *agent.Account) string {
	switch {
	case info.Retrying != nil:
		return "retrying"
	case info.Tools > 0 && info.Activity.Tool != "":
		return "tool " + info.Activity.Tool
	case info.Tools > 0 && len(account.Tools.Totals) > 0: // in the background
		return "tool " + account.Tools.Totals[len(account.Tools.Totals)-1].Name
	case info.Tools > 0:
		return "tool"
	case info.Delivered:
		return "done"
	case info.Waiting:
		return "waiting for its caller"
	}
	return "model"
}

// spend charges a model call that has ended; call is nil if none has. Above a limit the agent is stopped.
func (t *eventLog) spend(info agent.LineInfo, call *verdict.Usage) {
	var reached *belaytype.MaxCostReached
	if call != nil {
		reached = t.spending.turn(*call)
	}
	a := t.change(func(p progress) (progress, actions) { return p.charged(t.bounds, info, reached) })
	if a.overspent {
		reached = t.now().cost.reached
		v := costVerdict(reached)
		v.Sent = ""
		t.stop(&earlyStop{verdict: v, stop: costStop(reached)})
	}
}

// compareModel says that another model works than the one that was asked for, or stops the attempt before that works on if one is required.
func (t *eventLog) compareModel(use agent.ModelUse) {
	m := t.models
	other := m.compare(use)
	if other == nil || m.strict && t.substitution.Used != "" {
		return
	}
	first := m.note(other)
	t.substitution = *m.told
	switch {
	case m.strict:
		t.stop(otherModel(t.call.command.name(), other, use.Overloaded))
	case first:
		t.call.emit(*other)
	}
}

// judgeTurn tells the gate what came of a turn of a conversation, and has it put on record. The process goes on.
func (t *eventLog) judgeTurn(now time.Time) {
	if t.follower.JudgeTurn == nil {
		return
	}
	v := t.follower.JudgeTurn(now)
	t.admission.duringTalk(v, t.call.command.name())
	account, r := t.follower.Account(), turnReport{}
	t.change(func(p progress) (progress, actions) {
		p.turn, r = p.turn.over(account, v, p.retries.count, now)
		return p, actions{}
	})
	t.turnOver(r)
}

// retrying tells the gate why there is a retry inside the CLI, counts it as one of ours, and ends the attempt if there is no room for it. In a conversation
// that is for its caller to do.
func (t *eventLog) retrying(r *agent.Retrying, now time.Time) {
	c := t.call
	t.admission.during(r.Verdict, c.command.name())
	goesOn := func(unlimited bool) {
		t.change(func(p progress) (progress, actions) { return p.goesOn(r, unlimited, now), actions{} })
	}
	if t.bounds.conversation {
		goesOn(false)
		return
	}
	err := t.pace.innerRetry(c, r, t.now().retries.trouble, now)
	finishes := c.runner.WholeStream && t.form == agent.Stream
	c.emit(belaytype.InnerRetry{Attempt: t.number, Verdict: r.Verdict, Wait: r.Wait, Ended: err != nil && !finishes})
	stop, ok := errors.AsType[*retry.Error](err)
	if !ok || finishes {
		unlimited := r.Verdict.Class.Throttle() && r.Wait == 0 && !finishes
		goesOn(unlimited)
		if t.sessions.innerRetries++; unlimited && !c.ownMaxWait() { // one that was told to wait is not bounded
			t.alarm = time.AfterFunc(t.pace.series.Left(now), func() {
				t.stop(&earlyStop{verdict: r.Verdict, stop: &retry.Error{Cause: retry.ErrMaxWait}})
			})
		}
		return
	}
	if r.Verdict.Hint.IsZero() {
		stop.NotBefore = time.Time{} // the CLI's own back-off is not the service's advice
	}
	t.stop(&earlyStop{verdict: r.Verdict, stop: stop})
}
