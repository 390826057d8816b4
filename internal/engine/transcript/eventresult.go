package transcript

import (
	"cmp"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/output"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// Outcome and what follows is what a [Transcript] says when the process has ended.
func (t *EventLog) Outcome(o *verdict.Outcome) { o.Stderr = t.errors.excerpt() }

func (t *EventLog) Judge(o verdict.Outcome, exited bool, now time.Time) verdict.Verdict {
	if !exited {
		o.ExitCode, o.Signal = 0, "" // that is our doing
	}
	return t.Follower.Judge(o, now)
}

func (t *EventLog) Excerpt() verdict.Excerpt { return t.capture.Excerpt() }

func (t *EventLog) ExitCode(code int) int {
	if t.Follower.ExitCode == nil {
		return code
	}
	return t.Follower.ExitCode(code)
}

// Account is asked when the attempt was judged.
func (t *EventLog) Account() agent.Account {
	if t.ended == nil {
		a := t.Follower.Account()
		a.Model = cmp.Or(t.substitution.Used, a.Model)
		t.ended = &a
		if a.Quota != nil {
			t.Call.Report(agent.LineInfo{Delivered: true, Quota: t.limits.tell(t.Call, a.Quota)}, t.Sessions.SoFar(a.Priced()))
		}
	}
	return *t.ended
}

// Worked reports whether something may have been done. Text alone, without events, does not tell.
func (t *EventLog) Worked() bool { return t.Account().Active || t.plain && t.form == agent.Text }

func (t *EventLog) Version() string { return t.Account().Version }

// Deliver passes on what the caller asked for, once the attempt is known to count.
func (t *EventLog) Deliver() error {
	render := t.Follower.Render
	if t.form == agent.Text && t.StoppedEarly() != nil && !t.HasDelivered() {
		render = nil // it has nothing to say but that it was stopped
	}
	return t.pump.deliver(render)
}

func (t *EventLog) Output() *output.Output {
	if t.result == nil {
		t.result = t.answer(t.Follower.Answer())
	}
	return t.result
}

func (*EventLog) Replace(string) {} // only what a caller has done can be found out afterwards

func (t *EventLog) Describe(e *journal.Entry, a *agent.Account) {
	p := t.now()
	e.FirstToken, e.InnerRetries = p.first.Seconds(), p.retries.count+a.Unseen
	for _, one := range a.Tools.Totals {
		e.Tools = append(e.Tools, journal.Tool{Name: one.Name, Count: one.Count, Time: Milliseconds(one.Time)})
	}
	for _, call := range a.Tools.Calls {
		e.ToolCalls = append(e.ToolCalls, journal.ToolCall{Name: call.Name, Start: Milliseconds(call.Start.Sub(p.begun)), Time: Milliseconds(call.Time)})
	}
	e.ToolsCut = a.Tools.Cut
	e.ModelAsked = t.substitution.Asked
}
