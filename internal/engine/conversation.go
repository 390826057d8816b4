package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Resume says how a runner treats the sessions of an agent.
type Resume struct {
	// Session is the one to go on with: its id, or [LastSession]. Empty begins a new one, unless the command line itself
	// says otherwise.
	Session string
	// OrNew begins a new session if there is no such one any more.
	OrNew bool
	// Prompt is what a session is told that goes on after a failed attempt; empty means "Continue where you left off."
	Prompt string
	// Never begins anew after a failed attempt, also where that pays twice.
	Never bool
}

// LastSession stands for the last session of the same profile in the same directory.
const LastSession = "last"

const continuePrompt = "Continue where you left off."

// conversation is what the attempts of an invocation share where the command is an agent.
type conversation struct {
	agent  agent.Agent
	traits agent.Traits
	first  agent.Turn // what the caller asked for
	turn   agent.Turn // the next attempt's

	session string  // the last that was seen
	live    string  // the one that the present attempt has begun or gone on with
	resumed bool    // an attempt went on with a session
	usage   tally   // of all attempts
	account account // of the session that the next attempt goes on with, or begins
	turns   int
	inner   int // retries inside the CLI, that were let be
}

// newConversation is nil for a command that is no agent at work.
func newConversation(r *Runner, p agent.Profile, c *Command) *conversation {
	a, ok := p.(agent.Agent)
	if !ok || !a.Headless() {
		return nil
	}
	talk := &conversation{agent: a, traits: a.Traits()}
	talk.first = agent.Turn{Prompt: c.Prompt, Session: r.Resume.Session}
	if r.Policy.CountThrottles || r.Policy.MaxRetries == retry.None {
		n := max(r.Policy.MaxRetries, 0)
		talk.first.MaxRetries = &n
	}
	talk.turn = talk.first
	return talk
}

// learn takes note of what an attempt has done.
func (talk *conversation) learn(a *attempt) {
	talk.account.add(&a.account.Usage, a.account.SessionCost, a.account.SessionTokens)
	talk.usage.add(a.account.Usage)
	if a.account.Session != "" {
		talk.session = a.account.Session
	}
	talk.turns += a.account.Turns
}

// again prepares the turn of another attempt that nobody is to blame for and that costs no retry: the CLI did not know
// what we added to its command line, or the session to resume is gone. It reports whether there is one.
func (inv *Invocation) again(a *attempt) bool {
	return inv.talk != nil && a.started && inv.ended() == nil && !inv.isConversation() && inv.freshTurn(a) && inv.series.Restart()
}

func (inv *Invocation) freshTurn(a *attempt) bool {
	talk := inv.talk
	switch {
	case a.account.Misunderstood && !talk.turn.Plain:
		talk.first.Plain, talk.turn.Plain = true, true
		inv.observe(Plain{Option: a.verdict.Evidence})
		return true
	case a.verdict.Class != verdict.SessionNotFound || talk.turn.Session == "":
		return false
	case talk.turn.Continue: // it was our idea
		inv.observe(SessionGone{ID: talk.turn.Session})
		talk.turn = talk.first
		return true
	case inv.runner.Resume.OrNew:
		inv.observe(SessionGone{ID: talk.turn.Session})
		talk.first.Session = ""
		talk.turn = talk.first
		return true
	}
	return false
}

// continued prepares the turn after a failed attempt.
func (inv *Invocation) continued(a *attempt) {
	if inv.talk != nil {
		inv.talk.turn = inv.turnAfter(a)
	}
}

// turnAfter is the turn after a failed attempt. What was done is not paid for twice: a session in which something has
// happened goes on.
func (inv *Invocation) turnAfter(a *attempt) agent.Turn {
	talk := inv.talk
	fixed := talk.traits.Fixed != "" && a.account.Session == talk.traits.Fixed // its name cannot be given twice
	if a.account.Session == "" || !a.account.Active && !fixed || inv.runner.Resume.Never {
		if talk.turn.Continue {
			return talk.turn
		}
		return talk.first
	}
	prompt := inv.runner.Resume.Prompt
	if prompt == "" {
		prompt = continuePrompt
	}
	turn := agent.Turn{Prompt: &prompt, Session: a.account.Session, Continue: true, Plain: talk.first.Plain,
		MaxRetries: talk.first.MaxRetries, Turns: talk.turns}
	if talk.usage.cost != nil {
		turn.Spent = *talk.usage.cost
	}
	return turn
}

// stuck says why there must be no further attempt: the session would have to go on, and cannot with this command line. Nil
// means that it can.
func (inv *Invocation) stuck(a *attempt) *retry.Error {
	if inv.talk == nil || !a.started {
		return nil
	}
	turn := inv.turnAfter(a)
	if !turn.Continue {
		return nil
	}
	_, err := inv.talk.agent.Plan(turn)
	var over *agent.UsedUp
	if err == nil || errors.As(err, &over) { // of which there is more to say
		return nil
	}
	return &retry.Error{Cause: err}
}

// spent says why there must be no further attempt: the money is spent, or the budget of retries that all share. Nil means
// go on.
func (inv *Invocation) spent(a *attempt) *retry.Error {
	if inv.talk == nil && inv.calls == nil || !a.started {
		return nil
	}
	if limit, cost := inv.runner.MaxCost, inv.cost(); limit > 0 && cost != nil && *cost >= limit {
		return &retry.Error{Cause: fmt.Errorf("%w: $%.4f of $%g", ErrMaxCost, *cost, limit)}
	}
	if a.verdict.Class.Throttle() {
		return nil
	}
	g := inv.sharedGate()
	if g == nil {
		return nil
	}
	if ok, next := g.Spend(); !ok {
		return &retry.Error{Cause: fmt.Errorf("%w (gate %s; to fill it: %s)", ErrBudget, g.Key, LiftCommand(g.Key)), NotBefore: next}
	}
	return nil
}

// cost is what the attempts have cost so far, as far as they have told; nil if none has.
func (inv *Invocation) cost() *float64 {
	if inv.talk == nil {
		return nil
	}
	return inv.talk.usage.cost
}

// ErrMaxCost says that there was no further attempt because the attempts so far have cost what they may.
var ErrMaxCost = errors.New("--max-cost is used up")

// ErrBudget says that there was no further attempt because all processes together have used up their retries.
var ErrBudget = errors.New("the local retry budget is used up")

// unseen counts the retries that a CLI has made without a word, so that ours do not multiply them.
func (inv *Invocation) unseen(a *attempt) {
	now, class := time.Now(), a.verdict.Class
	if a.account.Unseen > 0 && class.Throttle() && !inv.policy.CountThrottles {
		inv.series.Charge(now, min(a.exit.Duration, inv.series.Left(now)), nil)
		inv.waits.inner += a.exit.Duration // it does nothing else meanwhile
		return
	}
	count := a.account.Unseen
	if !inv.policy.CountThrottles && a.exit.Duration < inv.policy.Patience() {
		// They were quicker than ours would have been: one more attempt is left, after a longer wait.
		count = min(count, inv.policy.MaxRetries-inv.series.Retries()-1)
	}
	for range max(count, 0) {
		inv.series.Inner(now, nil, retry.Advice{Retry: true, Throttled: class.Throttle()})
	}
}
