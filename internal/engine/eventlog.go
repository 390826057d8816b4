package engine

import (
	"io"
	"math"
	"sync"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// eventLog is the transcript of an agent. It lets the profile read the events as they come, acts on what they say, and
// passes on what the caller asked for: events as soon as the model has answered, everything else when the attempt is known
// to count. In a conversation, which has one attempt, everything is passed on as it comes.
type eventLog struct {
	call           *call
	pace           *pace
	sessions       *sessions
	attempt        int
	began          time.Time
	ad             admission
	follower       agent.Follower
	lines          agent.Lines
	long           []*agent.LongLine // that the follower will read again
	plain          bool              // there are no events in it
	direct         bool              // a conversation: the caller gets everything at once
	form           agent.Form
	live           io.Writer // nil if the caller wants only the answer
	held           *Output   // what the caller may yet see
	trailing       *Output   // what something else has printed after the result
	errors         *sink     // the standard error
	shown          bool      // the caller has seen something
	flowing        bool      // the model has answered, or is not waited for: nothing is held any more but bad news
	broken         bool      // the output is not read any more
	trouble        time.Time // since when it only retries; zero if it does not
	limitWaitSince time.Time // since when it waits for a limit without having said for how long; zero if it does not
	alarm          *time.Timer
	paused         time.Time     // since when it waits before it tries again; zero if it does not
	pause          time.Duration // how long, as it has said
	answer         *Output
	capture        *verdict.Capture          // for rules of the caller's
	first          time.Duration             // from the start to the first answer of the model; 0 if there was none
	inner          int                       // how often the CLI has tried again by itself, and was not stopped
	followed       time.Time                 // when the account was last looked at
	doing          agent.Activity            // what the agent did then
	retried        bool                      // it was about to try again then
	reached        *belaytype.MaxCostReached // the limit on cost that is reached; nil if none is
	idle           bool                      // since then, a conversation's caller is asked for more
	turn           talkTurn                  // of a conversation, the present one
	ended          *agent.Account            // what the attempt has done; nil before its end
	modelUse       agent.ModelUse            // that was looked at last
	substitution   belaytype.ModelSubstitution
	rows           callRows

	// reading is held while something is read of what the CLI tells: on stdout, on stderr and on its record.
	reading   sync.Mutex
	closed    bool        // all of it was read
	look      *time.Timer // for the next look at its record
	lookEvery time.Duration
	beside    *stderrReader // of a CLI that says on stderr what others say in events; else nil

	mu        sync.Mutex
	process   Process
	stopping  bool       // it is being stopped, or will be as soon as the process is known
	stopped   *earlyStop // why, where that is not that the output is not read any more
	answered  bool
	tools     bool
	waiting   bool // it waits for its caller
	due       bool // its caller has said something, and it has not begun to answer
	delivered bool
	session   string
}

// newEventLog is the transcript of an attempt that is started by that plan. stderr takes its standard error.
func newEventLog(c *call, p *pace, s *sessions, traits agent.Info, n int, follower agent.Follower, plan agent.Plan, ad admission) (t *eventLog, stderr io.Writer) {
	t = &eventLog{rows: callRows{}, lookEvery: lookInterval, call: c, pace: p, sessions: s, attempt: n, began: time.Now(), ad: ad, follower: follower, plain: plan.Plain,
		direct: traits.Once, form: traits.Form, live: c.command.Stdout, waiting: traits.Once, flowing: c.runner.WholeStream}
	t.held, t.trailing = c.newOutput(), c.newOutput()
	if t.live == nil {
		t.held.spare = math.MaxInt
	}
	t.lines.Each, t.lines.Spool, t.lines.Lists = t.line, t.spool, t.plain
	if c.runner.Judge != nil {
		t.capture = verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail)
	}
	t.errors, stderr = newSink(c, c.command.Stderr, false, p.mayRepeat(), ad)
	t.errors.showing = plan.Plain && traits.ShowsWork && c.runner.ShowWork
	if c.runner.TerminalInput || traits.ShowsWork {
		t.errors.chatter = []byte(plan.Chatter)
	}
	if follower.SubAgents != nil && c.runner.Ceilings.Agents > 0 {
		t.follower.Look = func() (info agent.LineInfo, ok bool) { t.checkRunaway(info); return info, false }
		t.lookEvery = agentsInterval
	}
	if follower.StderrLine != nil {
		t.beside = &stderrReader{log: t, begins: follower.StderrBegins, to: stderr}
		stderr = t.beside
	}
	return t, stderr
}

// spool is where a long line goes that begins there in the stream. What is plain is held in any case.
func (t *eventLog) spool(from int64) agent.Spool {
	if t.plain {
		return &section{of: t.held, from: from}
	}
	o := t.call.newOutput()
	o.spare = math.MaxInt
	return o
}

// Write implements [io.Writer].
func (t *eventLog) Write(p []byte) (int, error) {
	t.reading.Lock()
	defer t.reading.Unlock()
	switch {
	case t.direct:
		t.write(p)
	case t.plain:
		t.hold(t.held, p)
	}
	t.lines.Write(p)
	if t.capture != nil {
		t.capture.Write(p)
	}
	if t.broken {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func (t *eventLog) line(line agent.Line) {
	info := t.follower.Line(line)
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
	t.call.line(t.attempt, line)
	switch {
	case t.direct || t.plain || info.Show == agent.Drop: // Write has seen to it, or it is not for the caller
	case t.form != agent.Stream || t.live == nil:
		if info.Foreign {
			t.foreign(line)
		}
	case t.flowing && info.Show == agent.Pass && !(info.Delivered && t.call.checks()): // a result counts only if it passes
		t.flush(t.held)
		line.WriteTo(writerFunc(t.pass))
	default:
		line.WriteTo(writerFunc(func(p []byte) (int, error) { return t.hold(t.held, p) }))
		if info.Answered && info.Show == agent.Pass && !(info.Delivered && t.call.checks()) {
			t.flowing = true
			t.flush(t.held)
		}
	}
	switch {
	case line.Long == nil:
	case line.Long.Kept():
		t.long = append(t.long, line.Long)
	default:
		line.Long.Close()
	}
}

// foreign keeps what is no event: it stands before the answer, or after it.
func (t *eventLog) foreign(line agent.Line) {
	to := t.held
	if t.hasDelivered() {
		to = t.trailing
	}
	line.WriteTo(writerFunc(func(p []byte) (int, error) { return t.hold(to, p) }))
}

// hold keeps what the caller may yet see. If the disk is full it cannot be taken back any more, and is passed on.
func (t *eventLog) hold(to *Output, p []byte) (int, error) {
	if n, err := to.Write(p); err != nil {
		t.flush(to)
		t.write(p[n:])
	}
	return len(p), nil
}

// flush passes on what was held, which then is held no more.
func (t *eventLog) flush(held *Output) {
	if held.Size() > 0 && t.live != nil {
		t.show(held)
		held.Reset()
	}
}

// show passes on what was held.
func (t *eventLog) show(held *Output) {
	if held.Size() == 0 {
		return
	}
	t.shown = true
	if _, err := io.CopyBuffer(t.live, held.Reader(), make([]byte, 64<<10)); err != nil {
		t.lost()
	}
}

// pass is write in the form of an [io.Writer]'s.
func (t *eventLog) pass(p []byte) (int, error) {
	t.write(p)
	return len(p), nil
}

func (t *eventLog) write(raw []byte) {
	if t.broken || t.live == nil || len(raw) == 0 {
		return
	}
	t.shown = true
	if _, err := t.live.Write(raw); err != nil {
		t.lost()
	}
}

// lost says that the output is not read any more. Some CLIs go on all the same, which costs money.
func (t *eventLog) lost() {
	t.broken = true
	t.stop(nil)
}

// end reads what has no end of its own.
func (t *eventLog) end() {
	if t.beside != nil {
		t.beside.close()
	}
	t.reading.Lock()
	defer t.reading.Unlock()
	t.chargeLimitWait()
	t.resumed(time.Now())
	t.lines.Close()
	t.closed = true
	if t.look != nil {
		t.look.Stop()
	}
}
