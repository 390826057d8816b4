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
	"fmt"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/shim"
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
		if cli := profile.OfCommand(c.Args[0]); cli != nil { // a shim of that name may be what is found
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
