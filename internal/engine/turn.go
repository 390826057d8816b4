package engine

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

const continuePrompt = "Continue where you left off."

// interruptedPrompt is the same for a session whose run was killed, and may have got anywhere: it may have just finished.
const interruptedPrompt = continuePrompt + " If you had already finished, repeat your final answer."

// resultGrace is how long an agent may stay that has delivered its result.
const resultGrace = 30 * time.Second

// turn is an agent that works for a model on one request. After a failure it goes on with its session.
type turn struct {
	plain
	agent    agent.Agent
	info     agent.Info
	sessions sessions
	models   *models
	first    agent.Turn // what the caller asked for
	next     agent.Turn // the next attempt's
	resumed  bool       // an attempt went on with a session
	sent     bool       // a session was sent back: starting anew would repeat work that was done
}

// newTurn is the kind of an agent's command: a turn, or a conversation.
func newTurn(base plain, a agent.Agent) kind {
	info := a.Info()
	t := &turn{plain: base, agent: a, info: info, models: newModels(base.call.runner, &info), sessions: sessions{call: base.call, traits: info}}
	t.first = agent.Turn{Prompt: base.call.command.Prompt, Session: base.call.runner.Resume.Session}
	if p := base.call.runner.Policy; p.CountThrottles || p.MaxRetries == retry.None {
		n := max(p.MaxRetries, 0)
		t.first.MaxRetries = &n
	}
	t.next = t.first
	if r := base.call.runner.Resume; r.Interrupted && r.Session != "" {
		t.first.Session = ""
		t.next = t.continuation(r.Session)
		if r.Prompt == "" {
			prompt := interruptedPrompt
			t.next.Prompt = &prompt
		}
	}
	if info.Once {
		return &conversation{t}
	}
	return t
}

func (k *turn) traits() traits {
	own := k.info.Own
	if len(k.call.runner.Fallbacks) > 0 {
		own = agent.OwnRetries{} // another agent is asked instead of waiting
	}
	login := k.info.Login
	login.Path = k.call.absolute(login.Path)
	return traits{kind: agentTurn, login: login, gate: k.info.Gate, provider: k.info.Provider, ladder: k.info.Ladder,
		stall: k.info.Stall, toolStall: k.info.ToolStall, own: own, linger: resultGrace, unknownOption: k.info.Unknown, ownLog: k.info.OwnLog, showsWork: k.info.ShowsWork, tested: k.info.Tested}
}

// policy: a CLI that was told how long to wait for limits says it for Belay too.
func (k *turn) policy(p retry.Policy) retry.Policy {
	if k.call.ownMaxWait() {
		p.MaxWait = k.call.traits.own.MaxWait
	}
	return k.withPreset(p)
}

// begin finds out which session is to be resumed, makes this call its only writer, and reads the caller's stdin.
func (k *turn) begin() *refusal {
	if refused := k.claimSession(); refused != nil {
		return refused
	}
	in := &stdin{call: k.call, pace: k.pace, info: &k.info, given: k.info.HasPrompt || k.first.Prompt != nil}
	said, refused := in.read()
	if len(said) > 0 {
		k.first.Stdin, k.next.Stdin = said, said
	}
	return refused
}

// claimSession makes this call the only writer of the session that is to be resumed, if that is known.
func (k *turn) claimSession() (refused *refusal) {
	if k.first.Session == belaytype.LastSession {
		last, ok := k.lastSession()
		if !ok && !k.call.runner.Resume.OrNew {
			none := &belaytype.NoSession{Profile: k.call.profile.Name()}
			return &refusal{code: CodeUsage, stop: &retry.Error{Cause: none}, message: k.call.causeText(none),
				verdict: verdict.Verdict{Class: verdict.SessionNotFound, Rule: "resume", Sent: verdict.SentNo}}
		}
		k.first.Session, k.next.Session = last.ID, last.ID
	}
	id := cmp.Or(k.first.Session, k.next.Session, k.info.Resumes)
	if profile.IsSession(k.call.profile.Name(), id) {
		k.sessions.slot, refused = enterScope(k.call, k.pace, k.sessions.scope(id))
	}
	return refused
}

// lastSession finds the session that was used last.
func (k *turn) lastSession() (last state.Session, ok bool) {
	if k.call.state == nil {
		return last, false
	}
	return k.call.state.LastSession(k.call.profile.Name(), k.call.dir())
}

func (k *turn) prepare(n int, ad admission, turnOver func(turnReport)) (launch, transcript, error) {
	plan, l, t, err := k.plan(n, ad, turnOver)
	k.release() // that of the attempt before
	k.input = given(plan.Stdin)
	l.input = k.input
	return l, t, err
}

// plan is how the next attempt is started, but for its input.
func (k *turn) plan(n int, ad admission, turnOver func(turnReport)) (agent.Plan, launch, transcript, error) {
	k.sessions.next(k.next.Session)
	plan, err := k.agent.Plan(k.next)
	if err != nil {
		return plan, launch{}, nil, err
	}
	plan.Prices = k.call.runner.Prices
	t, stderr := newEventLog(&agentAttempt{call: k.call, pace: k.pace, sessions: &k.sessions, spending: k.spending, models: k.models, admission: ad, turnOver: turnOver,
		info: k.info, number: n, plan: plan, follower: k.agent.Follow(plan)})
	return plan, launch{args: plan.Args, env: slices.Concat(k.call.env, plan.Env), stdout: t, stderr: stderr, held: true, started: t.start}, t, nil
}

// given is the input of an attempt of an agent.
func given(stdin []byte) input {
	if stdin == nil {
		return noInput{}
	}
	return &feed{source: bytes.NewReader(stdin), replay: true}
}

func (k *turn) learn(j *judgement) {
	if !j.started() {
		return
	}
	k.sessions.learn(&j.account)
	k.spending.settle(j.account.Usage)
	k.resumed = k.next.Session != "" && j.verdict.Class != verdict.SessionNotFound
	k.countUnseen(j)
}

// countUnseen counts the retries that a CLI has made without a word, so that ours do not multiply them.
func (k *turn) countUnseen(j *judgement) {
	p, now, class := k.pace, time.Now(), j.verdict.Class
	if j.account.Unseen > 0 && class.Throttle() && !p.policy.CountThrottles {
		p.charge(j.exit.Duration)
		p.waits.inner += j.exit.Duration // it does nothing else meanwhile
		return
	}
	count := j.account.Unseen
	if !p.policy.CountThrottles && j.exit.Duration < p.policy.TotalDelay() {
		// They were quicker than ours would have been: one more attempt is left, after a longer wait.
		count = min(count, p.policy.MaxRetries-p.series.Retries()-1)
	}
	for range max(count, 0) {
		p.series.Inner(now, nil, retry.Advice{Retry: true, Throttled: class.Throttle()})
	}
}

// restart prepares the turn of another attempt that costs no retry: the CLI did not know what we added to its command line,
// or the session to resume is gone.
func (k *turn) restart(j *judgement) bool {
	switch {
	case j.account.Misunderstood && !k.next.Plain:
		k.first.Plain, k.next.Plain = true, true
		k.call.emit(belaytype.Plain{Option: j.verdict.Evidence})
		return true
	case j.verdict.Class != verdict.SessionNotFound || k.next.Session == "":
		return false
	case k.sent && !k.call.runner.Check.Repeat:
		return false
	case k.next.Continue: // our retry has resumed the session, not the caller
		k.call.emit(belaytype.SessionGone{ID: k.next.Session})
		k.next = k.first
		return true
	case k.call.runner.Resume.OrNew:
		k.call.emit(belaytype.SessionGone{ID: k.next.Session})
		k.first.Session = ""
		k.next = k.first
		return true
	}
	return false
}

func (k *turn) repeat(j *judgement) {
	k.next = k.turnAfter(j)
	if k.next.Continue && j.tell != "" {
		prompt := *k.next.Prompt + "\n\n" + j.tell
		k.next.Prompt = &prompt
	}
}

// turnAfter is the turn after a failed attempt. What was done is not paid for twice: a session in which something has
// happened goes on.
func (k *turn) turnAfter(j *judgement) agent.Turn {
	fixed := k.info.Fixed != "" && j.account.Session == k.info.Fixed // its name cannot be given twice
	if j.account.Session == "" || !j.account.Active && !fixed || k.call.runner.Resume.Never {
		if k.next.Continue {
			return k.next
		}
		return k.first
	}
	after := k.continuation(j.account.Session)
	after.Turns = k.sessions.turns
	if cost := k.sessions.usage.cost; cost != nil {
		after.Spent = *cost
	}
	return after
}

// sendBack: the session that has done the work is told what it lacks.
func (k *turn) sendBack(j *judgement, what string) bool {
	after := k.turnAfter(j)
	unkept := k.info.Request != nil && k.info.Request().NoSession
	if unkept || !after.Continue || after.Session != j.account.Session {
		return false
	}
	after.Prompt = &what
	_, err := k.agent.Plan(after)
	if _, over := errors.AsType[*agent.UsedUp](err); err != nil && !over { // then the next attempt says so
		return false
	}
	k.next, k.sent = after, true
	return true
}

// continuation is a turn of a session that knows the task.
func (k *turn) continuation(session string) agent.Turn {
	prompt := cmp.Or(k.call.runner.Resume.Prompt, continuePrompt)
	return agent.Turn{Prompt: &prompt, Session: session, Continue: true, Plain: k.first.Plain, MaxRetries: k.first.MaxRetries}
}

// hindrance: the session would have to go on and cannot with this command line, or the money is spent.
func (k *turn) hindrance(j *judgement) *retry.Error {
	if !j.started() {
		return nil
	}
	if after := k.turnAfter(j); after.Continue {
		_, err := k.agent.Plan(after)
		if _, over := errors.AsType[*agent.UsedUp](err); err != nil && !over { // of which there is more to say
			return &retry.Error{Cause: err}
		}
	}
	if reached := k.spending.check(); reached != nil {
		return costStop(reached)
	}
	return nil
}

func (k *turn) describe(e *journal.Entry, j *judgement) {
	if e.Session == "" && j.verdict.Class != verdict.SessionNotFound {
		// An attempt that did not come so far, or does not come at all, leaves the session as it stands after the one before.
		e.Session = k.sessions.live
	}
}

func (k *turn) prompts() []string { return []string{k.info.Prompt, string(k.first.Stdin)} }

func (k *turn) account(r *belaytype.Result) {
	r.Session, r.Resumed, r.Usage = k.sessions.last, k.resumed, k.sessions.usage.sum()
	r.Verdict.SessionID = r.Session
	k.plain.account(r)
}

func (k *turn) end(r *belaytype.Result) {
	r.ModelSubstitution = k.models.told
	k.sessions.end(r.Success, r.Verdict.Class)
}

func (k *turn) innerRetries() int { return k.sessions.innerRetries }

func (k *turn) knowsFailures() bool { return true }

func (k *turn) preview(p *belaytype.Preview) error {
	next := k.next
	if next.Session == belaytype.LastSession {
		last, _ := k.lastSession()
		next.Session = last.ID
	}
	plan, err := k.agent.Plan(next)
	if err != nil {
		return err
	}
	p.Args, p.Env, p.Session, p.Unknown = slices.Clone(plan.Args), plan.Env, next.Session, k.info.Unknown
	return nil
}

// conversation is an agent that its caller talks to line by line. There is one attempt, and the caller decides when it
// ends.
type conversation struct{ *turn }

func (k *conversation) traits() traits {
	t := k.turn.traits()
	t.kind, t.linger = agentConversation, 0
	return t
}

func (k *conversation) policy(p retry.Policy) retry.Policy {
	p = k.turn.policy(p)
	p.MaxRetries = retry.None
	return p
}

func (k *conversation) begin() *refusal { return k.claimSession() }

func (k *conversation) prepare(n int, ad admission, turnOver func(turnReport)) (launch, transcript, error) {
	_, l, t, err := k.plan(n, ad, turnOver)
	k.input = newInput(&k.call.command.Command, false, k.call.runner.ReplayStdin)
	if err == nil {
		k.input = k.overhear(t.(*eventLog))
	}
	l.input = k.input
	return l, t, err
}

// overhear is the input of a conversation in which silence has a limit: what the caller says makes it the agent's turn, also if the agent says
// nothing of that. A terminal is left to the agent.
func (k *conversation) overhear(t *eventLog) input {
	source := k.call.command.Stdin
	if f, ok := source.(*os.File); ok {
		if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return k.input
		}
	}
	if source == nil || k.call.command.Prompt != nil || k.info.Asks == nil || k.call.stall(false) <= 0 {
		return k.input
	}
	said := &callerLines{source: source}
	said.lines.Each = func(line agent.Line) {
		if k.info.Asks(line.Text) {
			t.asked()
		}
	}
	return &feed{source: said}
}

// callerLines tells of the lines that are read of a caller's input.
type callerLines struct {
	source io.Reader
	lines  agent.Lines
}

func (c *callerLines) Read(p []byte) (int, error) {
	n, err := c.source.Read(p)
	c.lines.Write(p[:n])
	return n, err
}

func (k *conversation) restart(*judgement) bool { return false }

// prompts are also the messages of a conversation that was written beforehand. What comes by a pipe is not seen by us.
func (k *conversation) prompts() []string {
	list := k.turn.prompts()
	if f, ok := k.call.command.Stdin.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			said, _ := io.ReadAll(io.NewSectionReader(f, 0, maxSaid))
			list = append(list, string(said))
		}
	}
	return list
}

// maxSaid is how much of such a file is looked for in errors.
const maxSaid = 1 << 20
