package transcript

import (
	"cmp"
	"io"
	"math"
	"sync"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/output"
	"github.com/belay-run/belay/internal/engine/session"
	"github.com/belay-run/belay/internal/engine/spending"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// EventLog is the transcript of an agent. Its [pump] takes what the agent prints, the profile's follower says what each line means, the [progress] what
// follows from that, and here it is carried out: see [eventLog.act].
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
	untold  bool          // limits cannot be kept: another process may have the store locked, and the agent would wait each time

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
	if c.Settings.Judge != nil {
		t.capture = verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail)
	}
	t.errors, stderr = newSink(c, c.Command.Stderr, false, a.Pace.MayRepeat(), a.Admission)
	t.errors.showing = a.Plan.Plain && a.Info.ShowsWork && c.Settings.ShowWork
	if c.Settings.TerminalInput || a.Info.ShowsWork {
		t.errors.chatter = []byte(a.Plan.Chatter)
	}
	follower := a.Follower
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
	t.lookLater(nil)
	t.reading.Unlock()
	t.running.start(p)
}

// End reads what has no end of its own.
func (t *EventLog) End() {
	if t.beside != nil {
		t.beside.close()
	}
	t.reading.Lock()
	defer t.reading.Unlock()
	t.waited(t.change(func(p progress) (progress, actions) { return p.over(time.Now()) }))
	t.lines.Close()
	t.closed = true
	t.look.stop()
}

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
			t.untold = t.untold || !t.Call.TellQuota(a.Quota)
			t.Call.Report(agent.LineInfo{Delivered: true, Quota: a.Quota}, t.Sessions.SoFar(a.Priced()))
		}
	}
	return *t.ended
}

// Worked reports whether something may have been done. Text alone, without events, does not tell.
func (t *EventLog) Worked() bool { return t.Account().Active || t.plain && t.form == agent.Text }

func (t *EventLog) ToldOfTurns() bool { return t.now().turn.told() }

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

// Milliseconds are seconds that are rounded to them.
func Milliseconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e3) / 1e3 }
