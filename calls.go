package belay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/supervise"
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
var ErrMayBeDone = errors.New("it may have been done all the same")

// calls is what the attempts of an invocation share where the command calls a service for its user.
type calls struct {
	caller  agent.Caller
	habits  agent.Habits
	checked bool // a limit has been asked for
	asked   int  // questions on the side, since the last line of the log
}

// newCalls is nil for a command that is no such caller.
func newCalls(p agent.Profile) *calls {
	c, ok := p.(agent.Caller)
	if !ok || !c.Headless() {
		return nil
	}
	return &calls{caller: c, habits: c.Habits()}
}

// deadline is how long an attempt may take: what the caller said, else what the profile knows.
func (inv *Invocation) deadline() time.Duration {
	if inv.policy.Timeout == 0 && inv.calls != nil {
		return inv.calls.habits.Deadline
	}
	return inv.policy.Timeout
}

// open says that a failed attempt leaves open whether it has changed something. A throttle does too, if it comes after a
// first change: gh issue create with an assignee makes two.
func (c *calls) open(v verdict.Verdict) bool {
	return c != nil && c.habits.Changes && v.Sent != verdict.SentNo
}

// settle finds out, for an attempt that leaves it open, whether to repeat it: nil if that is safe or was asked for. If what
// it was to do has been done, the attempt becomes a success.
func (inv *Invocation) settle(a *attempt) *retry.Error {
	if !inv.calls.open(a.verdict) || inv.runner.Effects.Repeat {
		return nil
	}
	verifier, ok := inv.calls.caller.(agent.Verifier)
	if !inv.runner.Effects.Verify || !ok {
		return &retry.Error{Cause: fmt.Errorf("%w: look before you repeat it, or use --verify-effect or --retry-unsafe", ErrMayBeDone)}
	}
	effect, err := verifier.Verify(inv.ctx, a.exit.Started, inv.ask)
	switch {
	case err != nil:
		return &retry.Error{Cause: fmt.Errorf("%w, and that could not be found out: %w", ErrMayBeDone, err)}
	case effect.Done:
		inv.observe(FoundDone{Output: effect.Output})
		a.verdict = verdict.Verdict{Class: verdict.OK, Rule: "verify-effect", Sent: verdict.SentYes, Evidence: a.verdict.Evidence}
		a.code, a.message = 0, ""
		a.stdout.replace(effect.Output)
		a.stderr.replace("")
	}
	return nil
}

// limit is when the limit ends that an attempt has run into, where it was not told: asked for once.
func (inv *Invocation) limit(a *attempt) {
	if inv.calls == nil || inv.calls.checked || a.verdict.Class != verdict.RateLimit || !a.verdict.Hint.IsZero() {
		return
	}
	checker, ok := inv.calls.caller.(agent.LimitChecker)
	if !ok {
		return
	}
	inv.calls.checked = true
	if hint, err := checker.CheckLimit(inv.ctx, inv.ask); err == nil {
		a.verdict.Hint = hint
	}
}

// askTimeout is how long a question may take that is asked on the side.
const askTimeout = 30 * time.Second

// ask runs the same command with other arguments, which change nothing, and returns what it prints.
func (inv *Invocation) ask(ctx context.Context, args ...string) ([]byte, error) {
	path, err := supervise.Look(inv.command.Args[0], inv.command.Dir)
	if err != nil {
		return nil, err
	}
	inv.calls.asked++
	var stdout, stderr bytes.Buffer
	end := func() {}
	exit, err := inv.runner.supervisor().Run(supervise.Spec{
		Path: path, Args: append([]string{inv.command.Args[0]}, args...), Dir: inv.command.Dir, Env: inv.env, RunID: inv.id,
		Stdout: &limited{&stdout, 16 << 20}, Stderr: &limited{&stderr, 64 << 10},
		Placement: supervise.OwnSession, Timeout: askTimeout,
	}, func(p *supervise.Process) {
		stop := context.AfterFunc(ctx, func() { p.Stop(supervise.Terminate) })
		end = func() { stop() }
	})
	end()
	switch {
	case err != nil:
		return nil, err
	case exit.Reason != supervise.Exited:
		return nil, fmt.Errorf("%s %s did not answer", inv.command.name(), args[0])
	case exit.Code != 0:
		return nil, fmt.Errorf("%s %s: %s", inv.command.name(), args[0], lastLine(verdict.LastLines(stderr.String(), 1, 200)))
	}
	return stdout.Bytes(), nil
}

// limited drops what is too much.
type limited struct {
	to   *bytes.Buffer
	room int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.room)
	l.room -= n
	l.to.Write(p[:n])
	return len(p), nil
}
