package transcript

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/output"
	"github.com/belay-run/belay/internal/engine/session"
	"github.com/belay-run/belay/internal/engine/spending"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// EventLog is the transcript of an agent. Its [pump] takes what the agent prints, the profile's follower says what each line means, the [progress] what
// follows from that, and here it is carried out: see [EventLog.act].
type EventLog struct {
	*AgentAttempt
	pump
	running

	// reading is held while something is read of what the CLI tells: on stdout, on stderr and on its record.
	reading sync.Mutex
	closed  bool          // all of it was read
	look    recordLook    // for what stands on its record alone
	beside  *stderrReader // of a CLI that says on stderr what others say in events; else nil
	alarm   *time.Timer   // ends a wait for a limit
	limits  limits        // of the account

	capture      *verdict.Capture // for rules of the caller's
	result       *output.Output   // the answer, once it was asked for
	ended        *agent.Account   // what the attempt has done; nil before its end
	substitution belaytype.ModelSubstitution
}

// AgentAttempt is an attempt of an agent as its transcript is handed it.
type AgentAttempt struct {
	Call      *call.Call
	Pace      *admission.Pace
	Sessions  *session.Sessions
	Ledger    *spending.Ledger
	Models    *Models
	Admission admission.Admission
	TurnOver  func(TurnReport) // is told of each turn of a conversation

	Info     agent.Info
	Number   int // of the attempt
	Plan     agent.Plan
	Follower agent.Follower
}

// NewEventLog is the transcript of an attempt. stderr takes its standard error.
func NewEventLog(a *AgentAttempt) (t *EventLog, stderr io.Writer) {
	c, ceilings := a.Call, &a.Call.Settings.Ceilings
	t = &EventLog{AgentAttempt: a, look: recordLook{every: lookInterval}}
	t.running = running{stall: c.Stall, care: c.Traits.Ladder, bounds: bounds{conversation: a.Info.Once, agents: ceilings.Agents, repeats: ceilings.Repeats},
		progress: progress{begun: time.Now(), waiting: a.Info.Once}}
	t.pump = pump{newOutput: c.NewOutput, read: t.line, lost: func() { t.stop(nil) }, form: a.Info.Form, plain: a.Plan.Plain, direct: a.Info.Once,
		checked: c.Checks(), live: c.Command.Stdout, flowing: c.Settings.WholeStream}
	t.pump.open()
	t.pump.shown = a.Info.Screen // by itself
	if c.Settings.Judge != nil {
		t.capture = verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail)
	}
	t.errors, stderr = newSink(c, c.Command.Stderr, false, a.Pace.MayRepeat(), a.Admission)
	t.errors.showing = a.Plan.Plain && a.Info.ShowsWork && c.Settings.ShowWork
	if c.Settings.TerminalInput || a.Info.ShowsWork {
		t.errors.chatter = []byte(a.Plan.Chatter)
	}
	follower := a.Follower
	if a.Info.Screen {
		t.look.every = agentsInterval
	}
	if follower.SubAgents != nil && ceilings.Agents > 0 {
		t.Follower.Look = func() (info agent.LineInfo, ok bool) {
			if n := follower.SubAgents(); n > ceilings.Agents {
				t.stop(tooManyAgents(c.Command.Name(), n, ceilings.Agents))
			}
			return info, false
		}
		t.look.every = agentsInterval
	}
	if follower.StderrLine != nil {
		t.beside = &stderrReader{line: t.stderrLine, begins: follower.StderrBegins, to: stderr}
		stderr = t.beside
	}
	return t, stderr
}

// Write implements [io.Writer].
func (t *EventLog) Write(p []byte) (int, error) {
	t.reading.Lock()
	defer t.reading.Unlock()
	t.take(p)
	if t.capture != nil {
		t.capture.Write(p)
	}
	if t.broken {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// line acts on what a line says. after says that it comes after the result.
func (t *EventLog) line(line agent.Line) (info agent.LineInfo, after bool) {
	info = t.Follower.Line(line)
	if !info.Foreign { // of the CLI that says nothing: not even that it works on after its result
		if line.Long != nil {
			for i := range info.Calls {
				info.Calls[i].Key = 0 // its input is not whole
			}
		}
		t.act(info)
		if info.Continues {
			t.lookLater(looks)
		}
	}
	t.Call.Line(t.Number, line)
	return info, t.HasDelivered()
}

// stderrLine acts on what a line on stderr says, and returns what is to become of the line.
func (t *EventLog) stderrLine(line []byte) agent.Show {
	t.reading.Lock()
	defer t.reading.Unlock()
	info, known := t.Follower.StderrLine(line)
	if known && !t.closed {
		t.act(info)
	}
	return info.Show
}

// Start hands over the process.
func (t *EventLog) Start(p call.Process) {
	t.reading.Lock()
	if t.Follower.Started != nil {
		t.Follower.Started(p.PID())
	}
	t.lookLater(nil)
	t.reading.Unlock()
	t.running.start(p)
}

// End reads what has no end of its own.
func (t *EventLog) End() {
	if t.beside != nil {
		t.beside.close()
	}
	if t.Info.Screen {
		t.lookNow(nil)
	}
	t.reading.Lock()
	defer t.reading.Unlock()
	t.waited(t.change(func(p progress) (progress, actions) { return p.over(time.Now()) }))
	t.lines.Close()
	t.closed = true
	t.look.stop()
}

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
	info.Quota = t.limits.tell(t.Call, info.Quota)
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

// limits of an account are known since the agent has told of them. untold says that they cannot be kept: another process may have the store locked, and the agent
// would wait each time.
type limits struct {
	known  quota.Quota
	untold bool
}

// tell tells others what the agent tells of the limits, and returns what is known of them now.
func (l *limits) tell(c *call.Call, news []quota.Window) quota.Quota {
	if len(news) > 0 {
		l.known, l.untold = c.TellQuota(news, l.untold)
	}
	return l.known
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

// lookLater looks at the CLI's own record, if it has one, after these pauses and from then on at intervals.
func (t *EventLog) lookLater(pauses []time.Duration) {
	if t.Follower.Look != nil && !t.closed {
		t.look.later(pauses, t.lookNow)
	}
}

// lookNow looks at the CLI's own record, and acts on what it tells.
func (t *EventLog) lookNow(rest []time.Duration) {
	t.reading.Lock()
	defer t.reading.Unlock()
	if t.closed {
		return
	}
	for info, ok := t.Follower.Look(); ok; info, ok = t.Follower.Look() {
		t.beat()
		if !t.Info.Screen {
			if info.Turn != nil { // else it says no more than that it is alive
				t.act(info)
			}
			break
		}
		t.act(info) // such a record tells line by line all that the CLI does
	}
	t.lookLater(rest)
}
