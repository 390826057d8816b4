package transcript

import (
	"errors"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/spending"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// act carries out what follows from what the CLI has told.
func (t *EventLog) act(info agent.LineInfo) {
	now, c := time.Now(), t.Call
	if t.bounds.agents > 0 && t.Follower.SubAgents != nil {
		info.SubAgents = t.Follower.SubAgents()
	}
	a := t.change(func(p progress) (progress, actions) { return p.told(t.bounds, info, now) })
	t.waited(a)
	if a.answered {
		t.Admission.Answered()
	}
	t.untold = t.untold || !c.TellQuota(info.Quota)
	if a.report {
		t.report(info)
	}
	t.spend(info, a.charge)
	if a.model {
		t.compareModel(info.Models)
	}
	if a.agents > 0 {
		t.stop(tooManyAgents(c.Command.Name(), a.agents, t.bounds.agents))
	}
	if a.repeated.times > 0 {
		t.stop(tooManyRepeats(c.Command.Name(), a.repeated, t.bounds.repeats, c.Secrets))
	}
	if a.turnOver {
		t.judgeTurn(now)
	}
	if a.retrying != nil {
		t.retrying(a.retrying, now)
	}
}

// waited counts what the CLI has waited by itself.
func (t *EventLog) waited(a actions) {
	if a.unlimited > 0 {
		t.Pace.Charge(a.unlimited)
	}
	t.Pace.Waits.Inner += a.slept
	if t.alarm != nil {
		t.alarm.Stop()
	}
}

// report takes note of the session as soon as it has a name, and puts on record what the agent is doing.
func (t *EventLog) report(info agent.LineInfo) {
	account, p := t.Follower.Account(), t.now()
	if p.session == "" && account.Session != "" {
		t.change(func(p progress) (progress, actions) {
			p.session = account.Session
			return p, actions{}
		})
		t.Sessions.Begin(account.Session, p.begun)
	}
	used := t.Sessions.SoFar(account.Priced())
	t.Call.Live.Progress(activity(info, &account), used)
	t.Call.Report(info, used)
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
func (t *EventLog) spend(info agent.LineInfo, call *verdict.Usage) {
	var reached *belaytype.MaxCostReached
	if call != nil {
		reached = t.Ledger.Turn(*call)
	}
	a := t.change(func(p progress) (progress, actions) { return p.charged(t.bounds, info, reached) })
	if a.overspent {
		reached = t.now().cost.reached
		v := spending.CostVerdict(reached)
		v.Sent = ""
		t.stop(&EarlyStop{Verdict: v, Stop: spending.CostStop(reached)})
	}
}

// compareModel says that another model works than the one that was asked for, or stops the attempt before that works on if one is required.
func (t *EventLog) compareModel(use agent.ModelUse) {
	m := t.Models
	other := m.compare(use)
	if other == nil || m.strict && t.substitution.Used != "" {
		return
	}
	first := m.note(other)
	t.substitution = *m.Told
	switch {
	case m.strict:
		t.stop(otherModel(t.Call.Command.Name(), other, use.Overloaded))
	case first:
		t.Call.Emit(*other)
	}
}

// judgeTurn tells the gate what came of a turn of a conversation, and has it put on record. The process goes on.
func (t *EventLog) judgeTurn(now time.Time) {
	if t.Follower.JudgeTurn == nil {
		return
	}
	v := t.Follower.JudgeTurn(now)
	t.Admission.DuringTalk(v, t.Call.Command.Name())
	account, r := t.Follower.Account(), TurnReport{}
	t.change(func(p progress) (progress, actions) {
		p.turn, r = p.turn.over(account, v, p.retries.count, now)
		return p, actions{}
	})
	t.TurnOver(r)
}

// retrying tells the gate why there is a retry inside the CLI, counts it as one of ours, and ends the attempt if there is no room for it. In a conversation
// that is for its caller to do.
func (t *EventLog) retrying(r *agent.Retrying, now time.Time) {
	c := t.Call
	t.Admission.During(r.Verdict, c.Command.Name())
	goesOn := func(unlimited bool) {
		t.change(func(p progress) (progress, actions) { return p.goesOn(r, unlimited, now), actions{} })
	}
	if t.bounds.conversation {
		goesOn(false)
		return
	}
	err := t.Pace.InnerRetry(c, r, t.now().retries.trouble, now)
	finishes := c.Settings.WholeStream && t.form == agent.Stream
	c.Emit(belaytype.InnerRetry{Attempt: t.Number, Verdict: r.Verdict, Wait: r.Wait, Ended: err != nil && !finishes})
	stop, ok := errors.AsType[*retry.Error](err)
	if !ok || finishes {
		unlimited := r.Verdict.Class.Throttle() && r.Wait == 0 && !finishes
		goesOn(unlimited)
		if t.Sessions.InnerRetries++; unlimited && !c.OwnMaxWait() { // one that was told to wait is not bounded
			t.alarm = time.AfterFunc(t.Pace.Series.Left(now), func() {
				t.stop(&EarlyStop{Verdict: r.Verdict, Stop: &retry.Error{Cause: retry.ErrMaxWait}})
			})
		}
		return
	}
	if r.Verdict.Hint.IsZero() {
		stop.NotBefore = time.Time{} // the CLI's own back-off is not the service's advice
	}
	t.stop(&EarlyStop{Verdict: r.Verdict, Stop: stop})
}
