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
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/input"
	"github.com/belay-run/belay/internal/engine/session"
	"github.com/belay-run/belay/internal/engine/spending"
	"github.com/belay-run/belay/internal/engine/transcript"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/worktree"
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
	sessions session.Sessions
	models   *transcript.Models
	first    agent.Turn // what the caller asked for
	next     agent.Turn // the next attempt's
	resumed  bool       // an attempt went on with a session
	rescue   rescue
	sent     bool // a session was sent back: starting anew would repeat work that was done
}

// newTurn is the kind of an agent's command: a turn, or a conversation.
func newTurn(base plain, a agent.Agent) kind {
	info := a.Info()
	t := &turn{plain: base, agent: a, info: info, models: transcript.NewModels(base.call.Settings, &info), sessions: session.Sessions{Call: base.call, Traits: info}}
	t.rescue.turn = t
	t.first = agent.Turn{Prompt: base.call.Command.Prompt, Session: base.call.Settings.Resume.Session}
	if p := base.call.Settings.Policy; p.CountThrottles || p.MaxRetries == retry.None {
		n := max(p.MaxRetries, 0)
		t.first.MaxRetries = &n
	}
	t.next = t.first
	if r := base.call.Settings.Resume; r.Interrupted && r.Session != "" {
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

func (k *turn) traits() call.Traits {
	own := k.info.Own
	if len(k.call.Settings.Fallbacks) > 0 {
		own = agent.OwnRetries{} // another agent is asked instead of waiting
	}
	login := k.info.Login
	login.Path = k.call.Absolute(login.Path)
	return call.Traits{Kind: call.AgentTurn, Login: login, Gate: k.info.Gate, Provider: k.info.Provider, Ladder: k.info.Ladder, Daemons: k.info.Daemons,
		Stall: k.info.Stall, ToolStall: k.info.ToolStall, Own: own, Linger: resultGrace, UnknownOption: k.info.Unknown, OwnLog: k.info.OwnLog, ShowsWork: k.info.ShowsWork, Screen: k.info.Screen, Tested: k.info.Tested}
}

// policy: a CLI that was told how long to wait for limits says it for Belay too.
func (k *turn) policy(p retry.Policy) retry.Policy {
	if k.call.OwnMaxWait() {
		p.MaxWait = k.call.Traits.Own.MaxWait
	}
	return k.withPreset(p)
}

// begin finds out which session is to be resumed, makes this call its only writer, and reads the caller's stdin.
func (k *turn) begin() *admission.Refusal {
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
func (k *turn) claimSession() (refused *admission.Refusal) {
	if k.first.Session == belaytype.LastSession {
		last, ok := k.lastSession()
		if !ok && !k.call.Settings.Resume.OrNew {
			none := &belaytype.NoSession{Profile: k.call.Profile.Name()}
			return &admission.Refusal{Code: CodeUsage, Stop: &retry.Error{Cause: none}, Message: k.call.CauseText(none),
				Verdict: verdict.Verdict{Class: verdict.SessionNotFound, Rule: "resume", Sent: verdict.SentNo}}
		}
		k.first.Session, k.next.Session = last.ID, last.ID
	}
	id := cmp.Or(k.first.Session, k.next.Session, k.info.Resumes)
	if profile.IsSession(k.call.Profile.Name(), id) {
		k.sessions.Slot, refused = admission.EnterScope(k.call, k.pace, k.sessions.Scope(id))
	}
	return refused
}

// lastSession finds the session that was used last.
func (k *turn) lastSession() (last state.Session, ok bool) {
	if k.call.State == nil {
		return last, false
	}
	dirs := []string{k.call.Dir()}
	if k.call.Settings.Worktree.On {
		dirs = worktree.Dirs(k.call.State.Dir, dirs[0])
	}
	return k.call.State.LastSession(k.call.Profile.Name(), dirs...)
}

func (k *turn) prepare(n int, ad admission.Admission, turnOver func(transcript.TurnReport)) (launch, transcript.Transcript, error) {
	plan, l, t, err := k.plan(n, ad, turnOver)
	k.release() // that of the attempt before
	k.input = given(plan.Stdin)
	l.input = k.input
	return l, t, err
}

// plan is how the next attempt is started, but for its input.
func (k *turn) plan(n int, ad admission.Admission, turnOver func(transcript.TurnReport)) (agent.Plan, launch, transcript.Transcript, error) {
	k.rescue.afford()
	k.sessions.Next(k.next.Session)
	plan, err := k.agent.Plan(k.next)
	if err != nil {
		return plan, launch{}, nil, err
	}
	plan.Prices = k.call.Settings.Prices
	t, stderr := transcript.NewEventLog(&transcript.AgentAttempt{Call: k.call, Pace: k.pace, Sessions: &k.sessions, Ledger: k.spending, Models: k.models, Admission: ad, TurnOver: turnOver,
		Info: k.info, Number: n, Plan: plan, Follower: k.agent.Follow(plan)})
	return plan, launch{args: plan.Args, env: slices.Concat(k.call.Env, plan.Env), stdout: t, stderr: stderr, held: true, started: t.Start}, t, nil
}

// given is the input of an attempt of an agent.
func given(stdin []byte) input.Input {
	if stdin == nil {
		return input.None{}
	}
	return &input.Feed{Source: bytes.NewReader(stdin), Replay: true}
}

func (k *turn) learn(j *judgement) {
	if !j.started() {
		return
	}
	k.sessions.Learn(&j.account)
	k.spending.Settle(j.account.Usage)
	k.resumed = k.next.Session != "" && j.verdict.Class != verdict.SessionNotFound
	k.countUnseen(j)
}

// countUnseen counts the retries that a CLI has made without a word, so that ours do not multiply them.
func (k *turn) countUnseen(j *judgement) {
	p, now, class := k.pace, time.Now(), j.verdict.Class
	if j.account.Unseen > 0 && class.Throttle() && !p.Policy.CountThrottles {
		p.Charge(j.exit.Duration)
		p.Waits.Inner += j.exit.Duration // it does nothing else meanwhile
		return
	}
	count := j.account.Unseen
	if !p.Policy.CountThrottles && j.exit.Duration < p.Policy.TotalDelay() {
		// They were quicker than ours would have been: one more attempt is left, after a longer wait.
		count = min(count, p.Policy.MaxRetries-p.Series.Retries()-1)
	}
	for range max(count, 0) {
		p.Series.Inner(now, nil, retry.Advice{Retry: true, Throttled: class.Throttle()})
	}
}

// restart prepares the turn of another attempt that costs no retry: the CLI did not know what we added to its command line,
// or the session to resume is gone.
func (k *turn) restart(j *judgement) bool {
	switch {
	case j.account.Misunderstood && !k.next.Plain:
		k.first.Plain, k.next.Plain = true, true
		k.call.Emit(belaytype.Plain{Option: j.verdict.Evidence})
		return true
	case j.verdict.Class == verdict.SessionNotFound && k.next.Session != "" && k.call.Settings.Resume.HandOver && k.rescue.goOn(j): // its record is there, and cannot be read
		return true
	case j.verdict.Class == verdict.SessionBroken || j.verdict.Class == verdict.TooLarge && k.next.Session != "":
		return k.rescue.goOn(j)
	case j.verdict.Class != verdict.SessionNotFound || k.next.Session == "":
		return false
	case k.sent && !k.call.Settings.Check.Repeat:
		return false
	case k.next.Continue: // our retry has resumed the session, not the caller
		k.call.Emit(belaytype.SessionGone{ID: k.next.Session})
		k.next = k.first
		return true
	case k.call.Settings.Resume.OrNew:
		k.call.Emit(belaytype.SessionGone{ID: k.next.Session})
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
	if j.account.Session == "" || !j.account.Active && !fixed || k.call.Settings.Resume.Never {
		if k.next.Continue {
			return k.next
		}
		return k.first
	}
	after := k.continuation(j.account.Session)
	after.Turns = k.sessions.Turns
	if cost := k.sessions.Usage.Cost; cost != nil {
		after.Spent = *cost
	}
	return after
}

// resumePrice: a session that the service has forgotten by then is paid for in full.
func (k *turn) resumePrice(j *judgement, at time.Time) string {
	if p, _ := k.rescue.price(k.turnAfter(j).Session, at); p.Cold {
		return p.String()
	}
	return ""
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
	prompt := cmp.Or(k.call.Settings.Resume.Prompt, continuePrompt)
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
	if reached := k.spending.Check(); reached != nil {
		return spending.CostStop(reached)
	}
	return nil
}

func (k *turn) continues() (session string, yes bool) {
	return k.next.Session, k.next.Continue || k.next.Session != ""
}

func (k *turn) describe(e *journal.Entry, j *judgement) {
	if e.Session == "" && j.verdict.Class != verdict.SessionNotFound {
		// An attempt that did not come so far, or does not come at all, leaves the session as it stands after the one before.
		e.Session = k.sessions.Live
	}
}

func (k *turn) prompts() []string { return []string{k.info.Prompt, string(k.first.Stdin)} }

func (k *turn) account(r *belaytype.Result) {
	r.SessionRepaired, r.SessionHandedOver = k.rescue.repaired, k.rescue.handedOver
	r.Session, r.Resumed, r.Usage = k.sessions.Last, k.resumed, k.sessions.Usage.Sum()
	r.Verdict.SessionID = r.Session
	k.plain.account(r)
}

func (k *turn) end(r *belaytype.Result) {
	r.ModelSubstitution = k.models.Told
	k.sessions.End(r.Success, r.Verdict.Class)
}

func (k *turn) innerRetries() int { return k.sessions.InnerRetries }

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
	price, _ := k.rescue.price(next.Session, time.Now())
	p.Resume = price.String()
	p.Args, p.Env, p.Session, p.Unknown = slices.Clone(plan.Args), plan.Env, next.Session, k.info.Unknown
	return nil
}

// conversation is an agent that its caller talks to line by line. There is one attempt, and the caller decides when it
// ends.
type conversation struct{ *turn }

func (k *conversation) traits() call.Traits {
	t := k.turn.traits()
	t.Kind, t.Linger = call.AgentConversation, 0
	return t
}

func (k *conversation) policy(p retry.Policy) retry.Policy {
	p = k.turn.policy(p)
	p.MaxRetries = retry.None
	if k.info.Screen {
		p.TotalTimeout = 0
	}
	return p
}

func (k *conversation) begin() *admission.Refusal {
	if k.info.Screen {
		return nil // its CLI sees to that
	}
	return k.claimSession()
}

func (k *conversation) prepare(n int, ad admission.Admission, turnOver func(transcript.TurnReport)) (launch, transcript.Transcript, error) {
	_, l, t, err := k.plan(n, ad, turnOver)
	k.input = input.New(&k.call.Command.Command, false, k.call.Settings.ReplayStdin)
	if err == nil {
		k.input = k.overhear(t.(*transcript.EventLog))
	}
	l.input = k.input
	if k.info.Screen {
		l.stdout, l.stderr, l.held = k.call.Command.Stdout, k.call.Command.Stderr, false
	}
	return l, t, err
}

// overhear is the input of a conversation in which silence has a limit: what the caller says makes it the agent's turn, also if the agent says
// nothing of that. A terminal is left to the agent.
func (k *conversation) overhear(t *transcript.EventLog) input.Input {
	source := k.call.Command.Stdin
	if f, ok := source.(*os.File); ok {
		if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return k.input
		}
	}
	if source == nil || k.call.Command.Prompt != nil || k.info.Asks == nil || k.call.Stall(false) <= 0 {
		return k.input
	}
	said := &callerLines{source: source}
	said.lines.Each = func(line agent.Line) {
		if k.info.Asks(line.Text) {
			t.Asked()
		}
	}
	return &input.Feed{Source: said}
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
	if f, ok := k.call.Command.Stdin.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			said, _ := io.ReadAll(io.NewSectionReader(f, 0, maxSaid))
			list = append(list, string(said))
		}
	}
	return list
}

// maxSaid is how much of such a file is looked for in errors.
const maxSaid = 1 << 20
