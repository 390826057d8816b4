package engine

import (
	"errors"
	"io"
	"math"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// eventLog is the transcript of an agent. It lets the profile read the events as they come, acts on what they say, and
// passes on what the caller asked for: events as soon as the model has answered, everything else when the attempt is known
// to count. In a conversation, which has one attempt, everything is passed on as it comes.
type eventLog struct {
	call     *call
	pace     *pace
	sessions *sessions
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
	errors   *sink     // the standard error
	shown    bool      // the caller has seen something
	flowing  bool      // the model has answered: nothing is held any more but bad news
	broken   bool      // the output is not read any more
	trouble  time.Time // since when it only retries; zero if it does not
	asleep   time.Time // since when it waits for a limit without having said for how long; zero if it does not
	alarm    *time.Timer
	paused   time.Time     // since when it waits before it tries again; zero if it does not
	pause    time.Duration // how long, as it has said
	answer   *Output
	capture  *verdict.Capture // for rules of the caller's
	first    time.Duration    // from the start to the first answer of the model; 0 if there was none
	inner    int              // how often the CLI has tried again by itself, and was let
	followed time.Time        // when the account was last looked at
	ended    *agent.Account   // what the attempt has done; nil before its end

	mu        sync.Mutex
	process   Process
	stopped   *early // it is being stopped before its time
	answered  bool
	tools     bool
	waiting   bool // it waits for its caller
	delivered bool
	session   string
}

// newEventLog is the transcript of an attempt that is started by that plan. stderr takes its standard error.
func newEventLog(c *call, p *pace, s *sessions, traits agent.Traits, n int, follower agent.Follower, plan agent.Plan, ad admission) (t *eventLog, stderr io.Writer) {
	t = &eventLog{call: c, pace: p, sessions: s, attempt: n, began: time.Now(), ad: ad, follower: follower, plain: plan.Plain,
		direct: traits.Once, form: traits.Form, live: c.command.Stdout, waiting: traits.Once}
	t.held, t.trailing = c.newOutput(), c.newOutput()
	t.held.mustHold = t.live == nil
	t.lines.Each, t.lines.Spool, t.lines.Lists = t.line, t.spool, t.plain
	if c.runner.Judge != nil {
		t.capture = verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail)
	}
	t.errors, stderr = newSink(c, c.command.Stderr, false, p.mayRepeat(), ad)
	return t, stderr
}

// spool is where a long line goes that begins there in the stream. What is plain is held in any case.
func (t *eventLog) spool(from int64) agent.Spool {
	if t.plain {
		return &section{of: t.held, from: from}
	}
	o := t.call.newOutput()
	o.mustHold = true
	return o
}

// Write implements [io.Writer].
func (t *eventLog) Write(p []byte) (int, error) {
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
	t.act(info)
	t.call.line(t.attempt, line)
	switch {
	case t.direct || t.plain || info.Show == agent.Drop: // Write has seen to it, or it is not for the caller
	case t.form != agent.Stream || t.live == nil:
		if info.Foreign {
			t.foreign(line)
		}
	case t.flowing && info.Show == agent.Pass:
		t.flush(t.held)
		line.WriteTo(writerFunc(t.pass))
	default:
		line.WriteTo(writerFunc(func(p []byte) (int, error) { return t.hold(t.held, p) }))
		if info.Answered && info.Show == agent.Pass {
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

// lost says that the output is not read any more. Some CLIs do not mind, and go on spending.
func (t *eventLog) lost() {
	t.broken = true
	t.stop(nil)
}

// act acts on what an event says.
func (t *eventLog) act(info agent.News) {
	t.awake()
	if info.Answered {
		t.ad.answered()
	}
	if info.Answered && t.first == 0 {
		t.first = time.Since(t.began)
	}
	t.mu.Lock()
	t.answered = t.answered || info.Answered
	process, tools, delivered := t.process, info.Tools > 0, info.Delivered
	waiting := t.direct && info.Waiting
	changed, turned := tools != t.tools || waiting != t.waiting, delivered != t.delivered
	t.tools, t.waiting, t.delivered = tools, waiting, delivered
	t.mu.Unlock()
	if process != nil && changed {
		process.Patience(t.stallTimeout(tools, waiting))
	}
	if process != nil && turned {
		if delivered {
			process.Delivered()
		} else {
			process.Working()
		}
	}
	t.follow(info, changed || turned)
	if info.Retrying != nil {
		t.retrying(info.Retrying)
	} else {
		t.trouble = time.Time{}
	}
}

// follow takes note of the session as soon as it has a name, and puts on record what the agent is doing: at once if that has
// changed, else twice a second at most.
func (t *eventLog) follow(info agent.News, changed bool) {
	if now := time.Now(); t.session == "" || changed || now.Sub(t.followed) > progressInterval/2 {
		t.followed = now
		account := t.follower.Account()
		if t.session == "" && account.Session != "" {
			t.session = account.Session
			t.sessions.begin(t.session, t.began)
		}
		t.call.live.progress(activity(info, &account), t.sessions.soFar(account.Usage))
	}
}

// activity says in a word or two what an agent is doing.
func activity(info agent.News, account *agent.Account) string {
	switch {
	case info.Retrying != nil:
		return "retrying"
	case info.Tools > 0 && len(account.Tools.Totals) > 0:
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

// start hands over the process, of which there may have been events already.
func (t *eventLog) start(p Process) {
	t.mu.Lock()
	t.process = p
	tools, waiting, delivered, stopped := t.tools, t.waiting, t.delivered, t.stopped
	t.mu.Unlock()
	if tools || waiting {
		p.Patience(t.stallTimeout(tools, waiting))
	}
	if delivered {
		p.Delivered()
	}
	if stopped != nil {
		p.Stop(t.ladder())
	}
}

// stallTimeout is how long the process may show no life: for ever while it waits for its caller.
func (t *eventLog) stallTimeout(tools, waiting bool) time.Duration {
	if waiting {
		return supervise.Unlimited
	}
	return t.call.stall(tools)
}

// ladder is how the attempt is stopped before its time: with the care that tools under way need, or, if the model has not
// even answered, quickly, because the next request is due.
func (t *eventLog) ladder() supervise.Ladder {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answered {
		return t.call.traits.ladder
	}
	return supervise.Ladder{{Signal: syscall.SIGTERM, Wait: 2 * time.Second}}
}

// retrying counts a retry inside the CLI as one of ours, tells the gate why there is one, and ends the attempt if there is
// no room for it.
func (t *eventLog) retrying(r *agent.Retrying) {
	now, p := time.Now(), t.pace
	t.ad.during(r.Verdict, t.call.command.name())
	t.resumed(now)
	if t.direct {
		t.paused, t.pause = now, r.Wait
		t.inner++
		return // it is the caller's to end it
	}
	advice := retry.Advice{Retry: !r.Hopeless, After: r.Wait, Throttled: r.Verdict.Class.Throttle()}
	err := p.series.Inner(now, &Error{Verdict: r.Verdict, Message: r.Verdict.Evidence}, advice)
	if t.trouble.IsZero() {
		t.trouble = now
	}
	if errors.Is(err, retry.ErrExhausted) && !p.policy.CountThrottles && now.Sub(t.trouble) < p.policy.Patience() {
		// Its retries are quicker than ours would be: it must not be given up sooner.
		err = p.series.Charge(now, r.Wait, err)
	}
	t.call.emit(InnerRetry{Attempt: t.attempt, Verdict: r.Verdict, Wait: r.Wait, Ended: err != nil})
	stop, ok := errors.AsType[*retry.Error](err)
	if !ok {
		t.paused, t.pause = now, r.Wait
		t.inner++
		if t.sessions.innerRetries++; advice.Throttled && r.Wait == 0 {
			t.sleeping(now, r.Verdict)
		}
		return
	}
	if r.Verdict.Hint.IsZero() {
		stop.NotBefore = time.Time{} // the CLI's own back-off is not the service's advice
	}
	t.stop(&early{verdict: r.Verdict, stop: stop})
}

// stop ends the attempt before its time, if that has not been done yet.
func (t *eventLog) stop(why *early) {
	t.mu.Lock()
	process, first := t.process, t.stopped == nil
	if first && why != nil {
		t.stopped = why
	}
	t.mu.Unlock()
	if process != nil && (first || why == nil) {
		// Not here: the end of the output is waited for, and that waits for us.
		go process.Stop(t.ladder())
	}
}

// end reads what has no end of its own.
func (t *eventLog) end() {
	t.awake()
	t.resumed(time.Now())
	t.lines.Close()
}

// sleeping sees to it that a CLI that waits for a limit, and does not say for how long, waits no longer than may be waited.
func (t *eventLog) sleeping(now time.Time, v verdict.Verdict) {
	t.asleep = now
	t.alarm = time.AfterFunc(t.pace.series.Left(now), func() {
		t.stop(&early{verdict: v, stop: &retry.Error{Cause: retry.ErrMaxWait}})
	})
}

// awake charges what it has waited.
func (t *eventLog) awake() {
	if t.asleep.IsZero() {
		return
	}
	t.alarm.Stop()
	slept := time.Since(t.asleep)
	t.pace.charge(slept)
	t.pace.waits.inner += slept
	t.asleep = time.Time{}
}

// resumed counts what it has waited of the time that it has told of: all of it, unless it was ended or has tried again
// before.
func (t *eventLog) resumed(now time.Time) {
	if !t.paused.IsZero() {
		t.pace.waits.inner += min(t.pause, now.Sub(t.paused))
		t.paused = time.Time{}
	}
}

func (t *eventLog) outcome(o *verdict.Outcome) { o.Stderr = t.errors.excerpt() }

func (t *eventLog) judge(o verdict.Outcome, exited bool, now time.Time) verdict.Verdict {
	if !exited {
		o.ExitCode, o.Signal = 0, "" // that is our doing
	}
	return t.follower.Judge(o, now)
}

func (t *eventLog) excerpt() verdict.Excerpt { return t.capture.Excerpt() }

// account is asked when the attempt was judged.
func (t *eventLog) account() agent.Account {
	if t.ended == nil {
		a := t.follower.Account()
		t.ended = &a
	}
	return *t.ended
}

func (t *eventLog) version() string { return t.account().Version }

// deliver passes on what the caller asked for, once the attempt is known to count.
func (t *eventLog) deliver() error { return errors.Join(t.deliverAnswer(), t.errors.deliver()) }

func (t *eventLog) deliverAnswer() error {
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
func (t *eventLog) render(p []byte) (int, error) {
	t.shown = t.shown || len(p) > 0
	return t.live.Write(p)
}

func (t *eventLog) output() *Output {
	if t.answer != nil {
		return t.answer
	}
	if answer := t.follower.Answer(); answer.IsPrinted() {
		t.answer = t.held.withoutEnd()
	} else {
		t.answer = t.call.newOutput()
		t.answer.mustHold = true
		t.answer.fill = func(w io.Writer) { answer.WriteTo(w) }
	}
	return t.answer
}

func (t *eventLog) stderr() *Output { return t.errors.output() }

func (t *eventLog) discard() {
	t.held.Close()
	t.trailing.Close()
	for _, line := range t.long {
		line.Close()
	}
	t.live = nil
	t.errors.output().Close()
}

func (*eventLog) replace(string) {} // only what a caller has done can be found out afterwards

func (t *eventLog) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tools
}

func (t *eventLog) hasDelivered() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.delivered
}

func (t *eventLog) stoppedEarly() *early {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stopped
}

func (t *eventLog) unread() bool { return t.broken }

func (t *eventLog) final() string {
	if t.broken {
		return unreadText
	}
	return t.errors.final()
}

// silent: there is nothing on stdout, and on stderr something else. codex says it in an event alone.
func (t *eventLog) silent(why string) bool {
	return !t.shown && (why == "" || !strings.Contains(t.errors.excerpt().Text(), why[:min(len(why), 40)]))
}

func (t *eventLog) describe(e *journal.Entry, a *agent.Account) {
	e.FirstToken, e.InnerRetries = t.first.Seconds(), t.inner+a.Unseen
	for _, one := range a.Tools.Totals {
		e.Tools = append(e.Tools, journal.Tool{Name: one.Name, Count: one.Count, Time: milliseconds(one.Time)})
	}
	for _, call := range a.Tools.Calls {
		e.ToolCalls = append(e.ToolCalls, journal.ToolCall{Name: call.Name, Start: milliseconds(call.Start.Sub(t.began)), Time: milliseconds(call.Time)})
	}
	e.ToolsCut = a.Tools.Cut
}

// milliseconds are seconds that are rounded to them.
func milliseconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e3) / 1e3 }
