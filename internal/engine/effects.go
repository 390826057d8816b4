package engine

import (
	"errors"
	"fmt"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Effects says what is done after a failure that leaves open whether the command has changed something.
type Effects struct {
	// Verify looks whether it has, where the profile knows how.
	Verify bool
	// Repeat repeats it in any case.
	Repeat bool
}

// ErrMayBeDone says that there was no further attempt because the command may have had its effect.
var ErrMayBeDone = errors.New("it may have been done, so it was not repeated")

// changes is what is known of a command that may change something, headless or not.
type changes struct {
	caller     agent.Caller
	verifiable bool
}

// open says that a failed attempt leaves open whether it has changed something: that it has not needs evidence. A throttle
// leaves it open too, if it may come after a first change: gh issue create with an assignee makes two.
func (c *changes) open(v verdict.Verdict) bool { return c != nil && v.Sent != verdict.SentNo }

// settle finds out, for an attempt that leaves it open, whether to repeat it: nil if that is safe or was asked for. If what
// it was to do has been done, the attempt becomes a success.
func (inv *Invocation) settle(a *attempt) *retry.Error {
	if !inv.changes.open(a.verdict) || inv.runner.Effects.Repeat {
		return nil
	}
	verifier, ok := inv.changes.caller.(agent.Verifier)
	if !ok || !inv.changes.verifiable {
		return &retry.Error{Cause: fmt.Errorf("%w: check first, or use --retry-unsafe", ErrMayBeDone)}
	}
	if !inv.runner.Effects.Verify {
		return &retry.Error{Cause: fmt.Errorf("%w: check first, or use --verify-effect or --retry-unsafe", ErrMayBeDone)}
	}
	effect, err := verifier.Verify(inv.ctx, a.exit.Started, inv.ask)
	switch {
	case err != nil:
		return &retry.Error{Cause: fmt.Errorf("%w, and --verify-effect could not find out (%w): check first, or use --retry-unsafe", ErrMayBeDone, err)}
	case effect.Done:
		inv.observe(FoundDone{Output: effect.Output})
		a.verdict = verdict.Verdict{Class: verdict.OK, Rule: "verify-effect", Sent: verdict.SentYes, Evidence: a.verdict.Evidence}
		a.code, a.message = 0, ""
		a.stdout.replace(effect.Output)
		a.stderr.replace("")
	}
	return nil
}
