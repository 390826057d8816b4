package engine

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// calls is what the attempts of an invocation share where the command calls a service for its user.
type calls struct {
	caller  agent.Caller
	habits  agent.Habits
	checked bool // a limit has been asked for
	warned  bool // that calls keep failing
}

// newCalls returns nil for a command that is no such caller, or wants a person; and nil for one that changes nothing.
func newCalls(p agent.Profile) (*calls, *changes) {
	c, ok := p.(agent.Caller)
	if !ok {
		return nil, nil
	}
	habits := c.Habits()
	var what *changes
	if habits.Changes {
		what = &changes{caller: c, verifiable: habits.Verifiable}
	}
	if !c.Headless() {
		return nil, what
	}
	return &calls{caller: c, habits: habits}, what
}

// deadline is how long an attempt may take: what the caller said, else what the profile knows.
func (inv *Invocation) deadline() time.Duration {
	if inv.policy.Timeout == 0 && inv.calls != nil {
		return inv.calls.habits.Deadline
	}
	return inv.policy.Timeout
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
	inv.asked++
	var stdout, stderr bytes.Buffer
	var process *supervise.Process
	end := func() {}
	exit, err := inv.runner.supervisor().Run(supervise.Spec{
		Path: path, Args: append([]string{inv.command.Args[0]}, args...), Dir: inv.command.Dir, Env: inv.env, RunID: inv.id,
		Stdout: &limited{&stdout, 16 << 20}, Stderr: &limited{&stderr, 64 << 10},
		Placement: supervise.OwnSession, Timeout: askTimeout,
	}, func(p *supervise.Process) {
		process = p
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
		if len(exit.Left) > 0 {
			process.EndTree()
		}
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
