package engine

import (
	"cmp"
	"io"
	"math"
	"sync"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// eventLog is the transcript of an agent. Its [pump] takes what the agent prints, the profile's follower says what each line means, the [progress] what
// follows from that, and here it is carried out: see [eventLog.act].
type eventLog struct {
	*agentAttempt
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
	result       *Output          // the answer, once it was asked for
	ended        *agent.Account   // what the attempt has done; nil before its end
	substitution belaytype.ModelSubstitution
}

// agentAttempt is an attempt of an agent as its transcript is handed it.
type agentAttempt struct {
	call      *call
	pace      *pace
	sessions  *sessions
	spending  *spending
	models    *models
	admission admission
	turnOver  func(turnReport) // is told of each turn of a conversation

	info     agent.Info
	number   int // of the attempt
	plan     agent.Plan
	follower agent.Follower
}

// newEventLog is the transcript of an attempt. stderr takes its standard error.
func newEventLog(a *agentAttempt) (t *eventLog, stderr io.Writer) {
	c, ceilings := a.call, &a.call.runner.Ceilings
	t = &eventLog{agentAttempt: a, look: recordLook{every: lookInterval}}
	t.running = running{stall: c.stall, care: c.traits.ladder, bounds: bounds{conversation: a.info.Once, agents: ceilings.Agents, repeats: ceilings.Repeats},
		progress: progress{begun: time.Now(), waiting: a.info.Once}}
	t.pump = pump{newOutput: c.newOutput, read: t.line, lost: func() { t.stop(nil) }, form: a.info.Form, plain: a.plan.Plain, direct: a.info.Once,
		checked: c.checks(), live: c.command.Stdout, flowing: c.runner.WholeStream}
	t.pump.open()
	if c.runner.Judge != nil {
		t.capture = verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail)
	}
	t.errors, stderr = newSink(c, c.command.Stderr, false, a.pace.mayRepeat(), a.admission)
	t.errors.showing = a.plan.Plain && a.info.ShowsWork && c.runner.ShowWork
	if c.runner.TerminalInput || a.info.ShowsWork {
		t.errors.chatter = []byte(a.plan.Chatter)
	}
	follower := a.follower
	if follower.SubAgents != nil && ceilings.Agents > 0 {
		t.follower.Look = func() (info agent.LineInfo, ok bool) {
			if n := follower.SubAgents(); n > ceilings.Agents {
				t.stop(tooManyAgents(c.command.name(), n, ceilings.Agents))
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
func (t *eventLog) Write(p []byte) (int, error) {
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
func (t *eventLog) line(line agent.Line) (info agent.LineInfo, after bool) {
	info = t.follower.Line(line)
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
	t.call.line(t.number, line)
	return info, t.hasDelivered()
}

// stderrLine acts on what a line on stderr says, and returns what is to become of the line.
func (t *eventLog) stderrLine(line []byte) agent.Show {
	t.reading.Lock()
	defer t.reading.Unlock()
	info, known := t.follower.StderrLine(line)
	if known && !t.closed {
		t.act(info)
	}
	return info.Show
}

// start hands over the process.
func (t *eventLog) start(p Process) {
	t.reading.Lock()
	t.lookLater(nil)
	t.reading.Unlock()
	t.running.start(p)
}

// end reads what has no end of its own.
func (t *eventLog) end() {
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

func (t *eventLog) outcome(o *verdict.Outcome) { o.Stderr = t.errors.excerpt() }

func (t *eventLog) judge(o verdict.Outcome, exited bool, now time.Time) verdict.Verdict {
	if !exited {
		o.ExitCode, o.Signal = 0, "" // that is our doing
	}
	return t.follower.Judge(o, now)
}

func (t *eventLog) excerpt() verdict.Excerpt { return t.capture.Excerpt() }

func (t *eventLog) exitCode(code int) int {
	if t.follower.ExitCode == nil {
		return code
	}
	return t.follower.ExitCode(code)
}

// account is asked when the attempt was judged.
func (t *eventLog) account() agent.Account {
	if t.ended == nil {
		a := t.follower.Account()
		a.Model = cmp.Or(t.substitution.Used, a.Model)
		t.ended = &a
		if a.Quota != nil {
			t.untold = t.untold || !t.call.tellQuota(a.Quota)
			t.call.report(agent.LineInfo{Delivered: true, Quota: a.Quota}, t.sessions.soFar(a.Priced()))
		}
	}
	return *t.ended
}

// worked reports whether something may have been done. Text alone, without events, does not tell.
func (t *eventLog) worked() bool { return t.account().Active || t.plain && t.form == agent.Text }

func (t *eventLog) toldOfTurns() bool { return t.now().turn.told() }

func (t *eventLog) version() string { return t.account().Version }

// deliver passes on what the caller asked for, once the attempt is known to count.
func (t *eventLog) deliver() error {
	render := t.follower.Render
	if t.form == agent.Text && t.stoppedEarly() != nil && !t.hasDelivered() {
		render = nil // it has nothing to say but that it was stopped
	}
	return t.pump.deliver(render)
}

func (t *eventLog) output() *Output {
	if t.result == nil {
		t.result = t.answer(t.follower.Answer())
	}
	return t.result
}

func (*eventLog) replace(string) {} // only what a caller has done can be found out afterwards

func (t *eventLog) describe(e *journal.Entry, a *agent.Account) {
	p := t.now()
	e.FirstToken, e.InnerRetries = p.first.Seconds(), p.retries.count+a.Unseen
	for _, one := range a.Tools.Totals {
		e.Tools = append(e.Tools, journal.Tool{Name: one.Name, Count: one.Count, Time: milliseconds(one.Time)})
	}
	for _, call := range a.Tools.Calls {
		e.ToolCalls = append(e.ToolCalls, journal.ToolCall{Name: call.Name, Start: milliseconds(call.Start.Sub(p.begun)), Time: milliseconds(call.Time)})
	}
	e.ToolsCut = a.Tools.Cut
	e.ModelAsked = t.substitution.Asked
}

// milliseconds are seconds that are rounded to them.
func milliseconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e3) / 1e3 }
