// Package engine runs a command until it has a result: it makes attempts, says what each was worth, and decides whether there is another one.
//
// An attempt goes through the stages in one direction, and each hands a value on to the next: admission lets it start; attempt.go starts the process; its
// transcript reads what it prints; judgement.go says what that was worth; decision.go what follows, and check.go whether a success counts; record.go puts it on
// record. loop.go is this loop. The packages below know nothing of each other beyond that order: call is what all of them know of the
// invocation, and what an attempt is given beside it are values: spending, session, input.
//
// A kind of command (kind.go) says what differs between a plain command, one that calls a service, an agent's turn and a conversation.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/shim"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// Runner runs commands as its [Settings] say. The zero value works: a command is run once, the whole of its process tree ends with
// the context, and nothing is written anywhere. A Runner may be used by several goroutines at the same time.
type Runner call.Settings

// Run runs the command to its end. The result is never nil; the error is nil if it is a success, an [*Error] if it
// is not, and a [*UsageError] if nothing could be started for how it was asked.
func (r *Runner) Run(ctx context.Context, c belaytype.Command) (*belaytype.Result, error) {
	inv, err := r.Prepare(ctx, c)
	if err != nil {
		return Refused(err), err
	}
	inv.Run()
	return inv.Wait()
}

// Refused is the result of a command that could not be started for how it was asked.
func Refused(err error) *belaytype.Result {
	return &belaytype.Result{Error: err.Error(), Errors: []string{err.Error()}, ExitCode: CodeUsage, ChildCode: -1,
		Usage: verdict.Usage{CostUSD: new(float64)}, Verdict: verdict.Verdict{Class: verdict.InvalidRequest}}
}

// Start begins to run the command in the background. The error is a [*UsageError].
func (r *Runner) Start(ctx context.Context, c belaytype.Command) (*Invocation, error) {
	inv, err := r.Prepare(ctx, c)
	if err == nil {
		inv.stream.Backlog()
		go inv.Run()
	}
	return inv, err
}

// Prepare checks the command and returns an invocation that [Invocation.Run] runs. Nothing is started or written
// before that. The error is a [*UsageError].
func (r *Runner) Prepare(ctx context.Context, given belaytype.Command) (*Invocation, error) {
	c, s := call.Command{Command: given}, (*call.Settings)(r)
	if err := r.Policy.Validate(); err != nil {
		return nil, &belaytype.UsageError{Err: err}
	}
	if err := r.Labels.Check(); err != nil {
		return nil, &belaytype.UsageError{Err: err}
	}
	env := append(c.Environ(), r.Labels.Environ()...)
	if r.Telemetry {
		env = append(env, TelemetryVar+"=true")
	}
	if len(c.Args) > 0 {
		if cli := profile.Named(c.Args[0]); cli != nil { // a shim of that name may be what is found
			env = append(env, shim.Setting(c.Variables(), cli.Name, c.Args[0]))
		}
	}
	if err := cmp.Or(check(s, &c, env), checkable(s, &c, env)); err != nil {
		return nil, err
	}
	if id, name := r.Resume.Session, s.ProfileInUse().Name(); id != "" && id != belaytype.LastSession && !profile.IsSession(name, id) {
		return nil, &belaytype.UsageError{Err: fmt.Errorf("%q is not a session id. It looks like %s, or is %q", id, profile.SessionExample(name), belaytype.LastSession)}
	}
	inv := newInvocation(ctx, s, c, env)
	var err error
	if inv.ground, err = newGround(s, inv.call.Dir()); err != nil {
		return nil, err
	}
	if len(r.Fallbacks) == 0 {
		return inv, nil
	}
	return inv, inv.addFallbacks()
}

// Describe says in words why a gate refuses: see [message.GateState].
func Describe(r gate.Refusal) string { return message.GateState(r) }

// Held returns the gate that a command of the runner takes part in, and what says what holds it; an empty key if there is none.
func (r *Runner) Held(shared call.Shared, c belaytype.Command) (key string, held func() *gate.Refusal) {
	inv := newInvocation(context.Background(), (*call.Settings)(r), call.Command{Command: c}, nil)
	defer inv.cancel(nil)
	inv.call.Shared = shared
	return admission.NewGatekeeper(inv.call, inv.pace).Held()
}

// check finds, before anything is started, what cannot work.
func check(r *call.Settings, c *call.Command, env []string) error {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return &belaytype.UsageError{Err: errors.New(message.NoCommand())}
	}
	for _, a := range c.Args {
		if strings.ContainsRune(a, 0) {
			return &belaytype.UsageError{Err: errors.New("an argument contains a NUL byte")}
		}
	}
	if why := unkept(r, c.Name()); why != "" {
		return &belaytype.UsageError{Err: message.Error(why)}
	}
	if c.Dir != "" {
		info, err := os.Stat(c.Dir)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return &belaytype.UsageError{Err: fmt.Errorf("working directory %s does not exist", c.Dir)}
		case err != nil:
			return &belaytype.UsageError{Err: fmt.Errorf("%s: %w", fmt.Sprintf("working directory %s cannot be used", c.Dir), err)}
		case !info.IsDir():
			return &belaytype.UsageError{Err: fmt.Errorf("working directory %s is not a directory", c.Dir)}
		}
	}
	if err := supervise.CheckArgs(c.Args, env); err != nil {
		tooLong := &belaytype.TooLong{Err: err}
		if r.Words != nil {
			if text := r.Words(tooLong); text != "" {
				return &belaytype.UsageError{Err: errors.New(text)}
			}
		}
		return &belaytype.UsageError{Err: tooLong}
	}
	return nil
}

// checkable finds, before anything is started, why the work of a command cannot be checked.
func checkable(r *call.Settings, c *call.Command, env []string) error {
	if r.Check.Line == "" && c.Check == nil {
		return nil
	}
	if NoCheck(r.Profile) {
		return &belaytype.UsageError{Err: errors.New(message.NoCheck(c.Name()))}
	}
	if err := supervise.CheckArgs(supervise.Shell(r.Check.Line), env); err != nil {
		return &belaytype.UsageError{Err: fmt.Errorf("the check: %w", err)}
	}
	return nil
}

// unkept is why the command cannot be held to what is asked of it; empty if it can.
func unkept(r *call.Settings, name string) string {
	asked := &r.Ceilings
	switch {
	case r.RequireModel != "" && Tells(r.ProfileInUse()).Model == nil:
		return message.ModelUntold(name)
	case asked.Memory > 0 && !supervise.MemoryLimits():
		return message.MemoryUntold()
	case asked.Repeats > 0 && !Tells(r.ProfileInUse()).TellsCalls:
		return message.Untold(name, "tool calls")
	case asked.Agents > 0 && !Tells(r.ProfileInUse()).TellsAgents:
		return message.Untold(name, "sub-agents")
	}
	return ""
}

// Tells is what is known of a command of that profile that works by itself, and so can be held to a limit on that; nothing of any other.
func Tells(p agent.Profile) (info agent.Info) {
	if a, ok := p.(agent.Agent); ok && a.Headless() {
		info = a.Info()
	}
	if info.Unknown != "" {
		info.Model = nil
	}
	return info
}
