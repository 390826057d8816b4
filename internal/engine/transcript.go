package engine

import (
	"errors"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// transcript takes the stdout of one attempt of an agent. It lets the profile read the events as they come, acts on
// what they say, and passes on what the caller asked for: events as soon as the model has answered, everything else when
// the attempt is known to count. In a conversation, which has one attempt, everything is passed on as it comes.
type transcript struct {
	inv      *Invocation
	attempt  int
	began    time.Time
	ad       admission
	follower agent.Follower
	lines    agent.Lines
	long     []*agent.LongLine // that the follower will read again
	plain    bool              // there are no events in it
	direct   bool              // a conversation: the caller gets everything at once
	form     agent.Form
	live     io.Writer // nil if the caller wants only the answer
	held     *Output   // what the caller may yet see
	trailing *Output   // what something else has printed after the result
	shown    bool      // the caller has seen something
	flowing  bool      // the model has answered: nothing is held any more but bad news
	broken   bool      // nobody takes the output any more
	trouble  time.Time // since when it only retries; zero if it does not
	asleep   time.Time // since when it waits for a limit without having said for how long; zero if it does not
	alarm    *time.Timer
	paused   time.Time     // since when it waits before it tries again; zero if it does not
	pause    time.Duration // how long, as it has said
	answer   *Output
	capture  *verdict.Capture // for rules of the caller's
	first    time.Duration    // from the start to the first that came of the model; 0 if nothing did
	inner    int              // how often the CLI has tried again by itself, and was let

	mu        sync.Mutex
	process   *supervise.Process
	early     *early // it is being stopped before its time
	answered  bool
	tools     bool
	waiting   bool // it waits for its caller
	delivered bool
	session   string
}

// early is why an attempt was stopped before its time: the CLI would go on trying what we would not.
type early struct {
	verdict verdict.Verdict
	stop    *retry.Error
}

func (inv *Invocation) newTranscript(n int, plan agent.Plan, ad admission) *transcript {
	traits := inv.talk.traits
	t := &transcript{inv: inv, attempt: n, began: time.Now(), ad: ad, follower: inv.talk.agent.Follow(plan), plain: plan.Plain,
		direct: traits.Once, form: traits.Form, live: inv.command.Stdout, waiting: traits.Once}
	t.held, t.trailing = inv.newOutput(), inv.newOutput()
	t.held.mustHold = t.live == nil
	t.lines.Each, t.lines.Spool, t.lines.Lists = t.line, t.spool, t.plain
	if inv.runner.Judge != nil {
		t.capture = verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail)
	}
	return t
}

// spool is where a long line goes that begins there in the stream. What is plain is held in any case.
func (t *transcript) spool(from int64) agent.Spool {
	if t.plain {
		return &section{of: t.held, from: from}
	}
	o := t.inv.newOutput()
	o.mustHold = true
	return o
}

// Write implements [io.Writer].
func (t *transcript) Write(p []byte) (int, error) {
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

func (t *transcript) line(line agent.Line) {
	news := t.follower.Line(line)
	t.heed(news)
	t.inv.events.put(line)
	switch {
	case t.direct || t.plain || news.Show == agent.Drop: // Write has seen to it, or it is not for the caller
	case t.form != agent.Stream || t.live == nil:
		if news.Foreign {
			t.foreign(line)
		}
	case t.flowing && news.Show == agent.Pass:
		t.flush(t.held)
		line.WriteTo(writerFunc(t.pass))
	default:
		line.WriteTo(writerFunc(func(p []byte) (int, error) { return t.hold(t.held, p) }))
		if news.Answered && news.Show == agent.Pass {
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
func (t *transcript) foreign(line agent.Line) {
	to := t.held
	if t.hasDelivered() {
		to = t.trailing
	}
	line.WriteTo(writerFunc(func(p []byte) (int, error) { return t.hold(to, p) }))
}

// hold keeps what the caller may yet see. If the disk is full it cannot be taken back any more, and is passed on.
func (t *transcript) hold(to *Output, p []byte) (int, error) {
	if n, err := to.Write(p); err != nil {
		t.flush(to)
		t.write(p[n:])
	}
	return len(p), nil
}

// flush passes on what was held, which then is held no more.
func (t *transcript) flush(held *Output) {
	if held.Size() > 0 && t.live != nil {
		t.show(held)
		held.Reset()
	}
}

// show passes on what was held.
func (t *transcript) show(held *Output) {
	if held.Size() == 0 {
		return
	}
	t.shown = true
	if _, err := io.CopyBuffer(t.live, held.Reader(), make([]byte, 64<<10)); err != nil {
		t.lost()
	}
}

// pass is write in the form of an [io.Writer]'s.
func (t *transcript) pass(p []byte) (int, error) {
	t.write(p)
	return len(p), nil
}

func (t *transcript) write(raw []byte) {
	if t.broken || t.live == nil || len(raw) == 0 {
		return
	}
	t.shown = true
	if _, err := t.live.Write(raw); err != nil {
		t.lost()
	}
}

// lost says that nobody reads any more. Some CLIs do not mind, and go on spending.
func (t *transcript) lost() {
	t.broken = true
	t.stop(nil)
}

// heed acts on the news of an event.
func (t *transcript) heed(n agent.News) {
	t.awake()
	if n.Answered {
		t.ad.answered()
	}
	if n.Answered && t.first == 0 {
		t.first = time.Since(t.began)
	}
	t.mu.Lock()
	t.answered = t.answered || n.Answered
	process, tools, delivered := t.process, n.Tools > 0, n.Delivered
	waiting := t.direct && n.Waiting
	changed, turned := tools != t.tools || waiting != t.waiting, delivered != t.delivered
	t.tools, t.waiting, t.delivered = tools, waiting, delivered
	t.mu.Unlock()
	if process != nil && changed {
		process.Patience(t.patience(tools, waiting))
	}
	if process != nil && turned {
		if delivered {
			process.Delivered()
		} else {
			process.Working()
		}
	}
	if t.session == "" {
		if id := t.follower.Account().Session; id != "" {
			t.session = id
			t.inv.sessionBegins(id)
			t.inv.inSession(id, t.began)
		}
	}
	if n.Retrying != nil {
		t.retrying(n.Retrying)
	} else {
		t.trouble = time.Time{}
	}
}

// started hands over the process, of which there may have been news already.
func (t *transcript) started(p *supervise.Process) {
	t.mu.Lock()
	t.process = p
	tools, waiting, delivered, early := t.tools, t.waiting, t.delivered, t.early
	t.mu.Unlock()
	if tools || waiting {
		p.Patience(t.patience(tools, waiting))
	}
	if delivered {
		p.Delivered()
	}
	if early != nil {
		p.Stop(t.ladder())
	}
}

// patience is how long the process may show no life: for ever while it waits for its caller.
func (t *transcript) patience(tools, waiting bool) time.Duration {
	if waiting {
		return supervise.Unlimited
	}
	return t.inv.stall(tools)
}

// ladder is how the attempt is stopped before its time: with the care that tools under way need, or, if the model has not
// even answered, quickly, because the next request is due.
func (t *transcript) ladder() supervise.Ladder {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answered {
		return t.inv.talk.traits.Ladder
	}
	return supervise.Ladder{{Signal: syscall.SIGTERM, Wait: 2 * time.Second}}
}

// retrying counts a retry inside the CLI as one of ours, tells the gate why there is one, and ends the attempt if there is
// no room for it.
func (t *transcript) retrying(r *agent.Retrying) {
	inv, now := t.inv, time.Now()
	t.ad.during(r.Verdict, inv.command.name())
	t.resumed(now)
	if t.direct {
		t.paused, t.pause = now, r.Wait
		t.inner++
		return // it is the caller's to end it
	}
	advice := retry.Advice{Retry: !r.Hopeless, After: r.Wait, Throttled: r.Verdict.Class.Throttle()}
	err := inv.series.Inner(now, &Error{Verdict: r.Verdict, Message: r.Verdict.Evidence}, advice)
	if t.trouble.IsZero() {
		t.trouble = now
	}
	if errors.Is(err, retry.ErrExhausted) && !inv.policy.CountThrottles && now.Sub(t.trouble) < inv.policy.Patience() {
		// Its retries are quicker than ours would be: it must not be given up sooner.
		err = inv.series.Charge(now, r.Wait, err)
	}
	inv.observe(InnerRetry{Attempt: t.attempt, Verdict: r.Verdict, Wait: r.Wait, Ended: err != nil})
	var stop *retry.Error
	if !errors.As(err, &stop) {
		t.paused, t.pause = now, r.Wait
		t.inner++
		if inv.talk.inner++; advice.Throttled && r.Wait == 0 {
			t.sleeping(now, r.Verdict)
		}
		return
	}
	if r.Verdict.Hint.IsZero() {
		stop.NotBefore = time.Time{} // the CLI's own back-off is nobody's advice
	}
	t.stop(&early{verdict: r.Verdict, stop: stop})
}

// stop ends the attempt before its time, if that has not been done yet.
func (t *transcript) stop(why *early) {
	t.mu.Lock()
	process, first := t.process, t.early == nil
	if first && why != nil {
		t.early = why
	}
	t.mu.Unlock()
	if process != nil && (first || why == nil) {
		// Not here: whoever waits for its output to end waits for us.
		go process.Stop(t.ladder())
	}
}

// end reads what has no end of its own.
func (t *transcript) end() {
	t.awake()
	t.resumed(time.Now())
	t.lines.Close()
}

// sleeping sees to it that a CLI that waits for a limit, and does not say for how long, waits no longer than may be waited.
func (t *transcript) sleeping(now time.Time, v verdict.Verdict) {
	t.asleep = now
	t.alarm = time.AfterFunc(t.inv.series.Left(now), func() {
		t.stop(&early{verdict: v, stop: &retry.Error{Cause: retry.ErrMaxWait}})
	})
}

// awake charges what it has waited.
func (t *transcript) awake() {
	if t.asleep.IsZero() {
		return
	}
	t.alarm.Stop()
	now := time.Now()
	t.inv.series.Charge(now, min(now.Sub(t.asleep), t.inv.series.Left(now)), nil)
	t.inv.waits.inner += now.Sub(t.asleep)
	t.asleep = time.Time{}
}

// resumed counts what it has waited of the time that it has told of: all of it, unless it was ended or has tried again
// before.
func (t *transcript) resumed(now time.Time) {
	if !t.paused.IsZero() {
		t.inv.waits.inner += min(t.pause, now.Sub(t.paused))
		t.paused = time.Time{}
	}
}

// deliver passes on what the caller asked for, once the attempt is known to count.
func (t *transcript) deliver() error {
	switch {
	case t.live == nil || t.broken || t.direct:
	case t.form == agent.Stream || t.plain:
		t.show(t.held)
	case t.form == agent.Text && t.stoppedEarly() != nil: // it has nothing to say but that it was stopped
	default:
		t.show(t.held)
		if err := t.follower.Render(writerFunc(t.render), t.form); err != nil {
			t.broken = true
		}
		t.show(t.trailing)
	}
	if t.broken {
		return io.ErrClosedPipe
	}
	return nil
}

// writerFunc is a function that is an [io.Writer].
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// render passes on what the CLI would have printed.
func (t *transcript) render(p []byte) (int, error) {
	t.shown = t.shown || len(p) > 0
	return t.live.Write(p)
}

// output is the answer, for a result.
func (t *transcript) output() *Output {
	if t.answer != nil {
		return t.answer
	}
	if answer := t.follower.Answer(); answer.IsPrinted() {
		t.answer = t.held.withoutEnd()
	} else {
		t.answer = t.inv.newOutput()
		t.answer.mustHold = true
		t.answer.fill = func(w io.Writer) { answer.WriteTo(w) }
	}
	return t.answer
}

// discard drops what an attempt has printed that does not count.
func (t *transcript) discard() {
	t.held.Close()
	t.trailing.Close()
	for _, line := range t.long {
		line.Close()
	}
	t.live = nil
}

// busy reports whether a tool runs.
func (t *transcript) busy() bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tools
}

// hasDelivered reports whether there is a result.
func (t *transcript) hasDelivered() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.delivered
}

// stoppedEarly is why it was stopped before its time; nil if it was not.
func (t *transcript) stoppedEarly() *early {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.early
}

// unread reports whether nobody takes its output.
func (t *transcript) unread() bool { return t != nil && t.broken }
