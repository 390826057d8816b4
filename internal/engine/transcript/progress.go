package transcript

import (
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/verdict"
)

// progress is how an attempt of an agent stands, as far as its CLI has told: a plain value, as [gate.State] is one. What is told are functions of the
// progress, a line and the time. They lead to another progress, and to actions, which the [EventLog] carries out.
type progress struct {
	begun time.Time     // when the attempt was started
	first time.Duration // from then to the first answer of the model; 0 if there was none

	answered  bool // the model has answered
	tools     bool // a tool runs
	waiting   bool // it waits for its caller
	due       bool // its caller has said something, and it has not begun to answer
	delivered bool // its result is there

	session  string // empty until it has a name
	reported report
	retries  innerRetries
	cost     costLimit
	model    agent.ModelUse // that was looked at last
	rows     callRows
	turn     talkTurn // of a conversation, the present one
}

// bounds are what an attempt is told of by its caller, and does not change.
type bounds struct {
	conversation bool
	agents       int // how many sub-agents may work at a time; 0 means any number
	repeats      int // the same call so often in a row is one too many; 0 means that none is
}

// report is when the account was last looked at, and what the agent did then.
type report struct {
	at       time.Time
	doing    agent.Activity
	retrying bool
}

// innerRetries are the CLI's own.
type innerRetries struct {
	count   int           // how often it has tried again by itself, and was not stopped
	trouble time.Time     // since when it only retries; zero if it does not
	limited time.Time     // since when it waits for a limit without having said for how long; zero if it does not
	paused  time.Time     // since when it waits before it tries again; zero if it does not
	pause   time.Duration // how long, as it has said
}

// costLimit is that one of the limits on cost is reached.
type costLimit struct {
	reached *belaytype.MaxCostReached // nil if none is
	idle    bool                      // since then, a conversation's caller is asked for more
}

// actions are what follows from what the CLI has told. They are carried out in the order of the fields.
type actions struct {
	unlimited time.Duration // it has waited so long for a limit: that is charged
	slept     time.Duration // and so long in all
	answered  bool          // the gate is told that the service answers
	clock     bool          // how long it may show no life is another time than before
	delivered bool          // the process is told that its result is there,
	working   bool          // or that it works on
	report    bool          // what it does goes to those who watch
	charge    *verdict.Usage
	overspent bool // it would make another model call though a limit on cost is reached
	model     bool // the model is compared with the one that was asked for
	agents    int  // so many sub-agents work at a time, more than may; else 0
	repeated  callRow
	turnOver  bool            // a turn of a conversation is judged
	retrying  *agent.Retrying // is counted as one of ours
}

// told is what a line leads to.
func (p progress) told(set bounds, info agent.LineInfo, now time.Time) (progress, actions) {
	var a actions
	p.retries, a.unlimited = p.retries.unlimited(now)
	a.slept = a.unlimited
	if a.answered = info.Answered; info.Answered && p.first == 0 {
		p.first = now.Sub(p.begun)
	}
	if p.turn.begun.IsZero() && !info.Waiting {
		p.turn.begun = now
	}
	p, changed := p.stands(set, info, &a)
	if p.session == "" || changed || info.Begun.Tool != "" || info.Quota != nil || info.Turn != nil || p.reported.differs(info) || now.Sub(p.reported.at) > call.ProgressInterval/2 {
		p.reported, a.report = report{now, info.Activity, info.Retrying != nil}, true
	}
	a.charge = info.Turn
	if info.Models != p.model {
		p.model, a.model = info.Models, true
	}
	if set.agents > 0 && info.SubAgents > set.agents {
		a.agents = info.SubAgents
	}
	if set.repeats > 0 && (info.TurnOver || len(info.Calls) > 0) {
		p.rows, a.repeated = p.rows.after(info, set.repeats)
	}
	a.turnOver = set.conversation && info.TurnOver
	if r := info.Retrying; r != nil && !r.Repeated { // else it is counted, and the gate knows
		var slept time.Duration
		p.retries, slept = p.retries.resumed(now)
		a.slept += slept
		if p.retries.trouble.IsZero() {
			p.retries.trouble = now
		}
		a.retrying = r
	} else if r == nil && !info.Troubled {
		p.retries.trouble = time.Time{}
	}
	return p, a
}

// stands says how the attempt stands after a line. changed says that it stands otherwise than before.
func (p progress) stands(set bounds, info agent.LineInfo, a *actions) (after progress, changed bool) {
	before := p
	p.answered, p.tools, p.delivered = p.answered || info.Answered, info.Tools > 0, info.Delivered
	p.due = p.due && info.Waiting && !info.TurnOver
	p.waiting = set.conversation && info.Waiting && !p.due
	a.clock = p.tools != before.tools || p.waiting != before.waiting
	a.delivered, a.working = p.delivered && !before.delivered, before.delivered && !p.delivered
	return p, a.clock || a.delivered || a.working
}

// differs reports whether a line says that the agent does something else than was reported last.
func (r report) differs(info agent.LineInfo) bool {
	return info.Retrying != nil || r.retrying || info.Activity != r.doing
}

// asked says that, in a conversation, the caller has said something that the agent answers. Its silence counts from now on.
func (p progress) asked() (progress, actions) {
	a := actions{clock: p.waiting}
	p.waiting, p.due = false, true
	return p, a
}

// charged says what came of a model call's charge: the limit that is reached by it, or nil. If one is, the agent is stopped before the next one: when it
// waits for its tools, or, in a conversation, when its caller asks for more. The answer to what was asked is not lost; it is paid for.
func (p progress) charged(set bounds, info agent.LineInfo, reached *belaytype.MaxCostReached) (progress, actions) {
	if reached != nil {
		p.cost.reached = reached
	}
	if p.cost.reached == nil {
		return p, actions{}
	}
	a := actions{overspent: info.Continues || p.cost.idle && !info.Waiting}
	p.cost.idle = set.conversation && info.Waiting
	return p, a
}

// goesOn says that the CLI tries again by itself and is let do so. unlimited says that it waits for a limit and has not said for how long.
func (p progress) goesOn(r *agent.Retrying, unlimited bool, now time.Time) progress {
	p.retries.paused, p.retries.pause = now, r.Wait
	p.retries.count++
	if unlimited {
		p.retries.limited = now
	}
	return p
}

// over says that there is nothing more to read.
func (p progress) over(now time.Time) (progress, actions) {
	var a actions
	p.retries, a.unlimited = p.retries.unlimited(now)
	p.retries, a.slept = p.retries.resumed(now)
	a.slept += a.unlimited
	return p, a
}

// unlimited ends a wait for a limit, and says how long that was.
func (r innerRetries) unlimited(now time.Time) (innerRetries, time.Duration) {
	if r.limited.IsZero() {
		return r, 0
	}
	slept := now.Sub(r.limited)
	r.limited = time.Time{}
	return r, slept
}

// resumed ends a wait that the CLI has told the length of, and says how long it was: all of it, unless the CLI was ended or has tried again before.
func (r innerRetries) resumed(now time.Time) (innerRetries, time.Duration) {
	if r.paused.IsZero() {
		return r, 0
	}
	slept := min(r.pause, now.Sub(r.paused))
	r.paused = time.Time{}
	return r, slept
}
