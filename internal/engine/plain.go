package engine

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/input"
	"github.com/belay-run/belay/internal/engine/spending"
	"github.com/belay-run/belay/internal/engine/transcript"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// plain is a command that nothing more is known of than how it ends and what it prints. The other kinds begin with it.
type plain struct {
	call *call.Call
	pace *admission.Pace
	// spending are the limits on cost that the command counts towards.
	spending *spending.Ledger
	input    input.Input // of all attempts; nil before the first
	changes  *changes    // nil for a command that is not known to change anything
}

func (k *plain) traits() call.Traits { return call.Traits{Changes: k.changes != nil} }

// policy: what has an effect must not be repeated unless that was asked for.
func (k *plain) policy(p retry.Policy) retry.Policy {
	if p.MaxRetries == 0 {
		p.MaxRetries = retry.None
	}
	return p
}

// withPreset is the policy of a command that has a preset of its own.
func (k *plain) withPreset(p retry.Policy) retry.Policy {
	if p.MaxRetries == 0 && !p.CountThrottles {
		if cli := profile.Find(k.call.Profile.Name()); cli != nil {
			p = call.Merged(p, cli.Preset)
		}
	}
	return k.policy(p)
}

func (k *plain) begin() *admission.Refusal { return nil }

func (k *plain) prepare(n int, ad admission.Admission, _ func(transcript.TurnReport)) (launch, transcript.Transcript, error) {
	l, t := k.launch(ad, nil)
	return l, t, nil
}

// launch is how the command is started, with a listener if there is one.
func (k *plain) launch(ad admission.Admission, listener agent.Listener) (launch, *transcript.Streams) {
	if k.input == nil {
		k.input = input.New(&k.call.Command.Command, k.pace.MayRepeat(), k.call.Settings.ReplayStdin)
	}
	l := launch{args: k.call.Command.Args, env: k.call.Env, input: k.input}
	var t *transcript.Streams
	t, l.stdout, l.stderr = transcript.NewStreams(k.call, k.pace.MayRepeat(), ad, listener)
	l.held = t.Held()
	l.inMemory = listener == nil && k.call.Command.StaysInMemory()
	if cli := profile.Find(k.call.Command.Name()); cli != nil && cli.IsAgent() {
		t.CostsUnknown() // an agent at work for a person does not tell
	}
	return l, t
}

func (k *plain) learn(*judgement)                         {}
func (k *plain) complete(*judgement)                      {}
func (k *plain) restart(*judgement) bool                  { return false }
func (k *plain) hindrance(*judgement) *retry.Error        { return nil }
func (k *plain) repeat(*judgement)                        {}
func (k *plain) resumePrice(*judgement, time.Time) string { return "" }

func (k *plain) sendBack(*judgement, string) bool    { return false }
func (k *plain) continues() (string, bool)           { return "", false }
func (k *plain) describe(*journal.Entry, *judgement) {}
func (k *plain) prompts() []string                   { return nil }
func (k *plain) preview(p *belaytype.Preview) error  { return nil }
func (k *plain) innerRetries() int                   { return 0 }
func (k *plain) knowsFailures() bool                 { return false }

func (k *plain) release() {
	if k.input != nil {
		k.input.Release()
	}
}

func (k *plain) end(*belaytype.Result) {}

func (k *plain) account(r *belaytype.Result) {
	if r.Usage.CostUSD == nil && !r.Usage.CostUnknown() {
		r.Usage.CostUSD = new(float64) // nothing was used
	}
}

// changes is what is known of a command that may change something, headless or not.
type changes struct {
	verify func(ctx context.Context, since time.Time, ask agent.Ask) (agent.Effect, error) // nil if there is no way to find out
}

// open says that a failed attempt leaves open whether it has changed something: that it has not needs evidence. A throttle
// leaves it open too, if it may come after a first change: gh issue create with an assignee makes two.
func (c *changes) open(v verdict.Verdict) bool { return c != nil && v.Sent != verdict.SentNo }

// settle finds out, for an attempt that leaves open whether it has changed something, whether to repeat it: nil if that is
// safe or was asked for. If what it was to do has been done, the attempt becomes a success.
func (k *plain) settle(j *judgement) *retry.Error {
	effects := k.call.Settings.Effects
	if !k.changes.open(j.verdict) || effects.Repeat {
		return nil
	}
	unknown := &belaytype.EffectUnknown{Verifiable: k.changes.verify != nil, Asked: effects.Verify}
	if !unknown.Verifiable || !unknown.Asked {
		return &retry.Error{Cause: unknown}
	}
	effect, err := k.changes.verify(k.pace.Ctx, j.exit.Started, k.ask(j))
	switch {
	case err != nil:
		unknown.Err = err
		return &retry.Error{Cause: unknown}
	case effect.Done:
		k.call.Emit(belaytype.FoundDone{Output: effect.Output})
		j.verdict = verdict.Verdict{Class: verdict.OK, Rule: "verify-effect", Sent: verdict.SentYes, Evidence: j.verdict.Evidence}
		j.code, j.message = 0, ""
		j.transcript.Replace(effect.Output)
	}
	return nil
}

// askTimeout is how long a question may take that is asked on the side.
const askTimeout = 30 * time.Second

// ask returns a function that runs the same command with other arguments, which change nothing, and returns what it prints.
// Its requests are counted as the attempt's.
func (k *plain) ask(j *judgement) func(ctx context.Context, args ...string) ([]byte, error) {
	return func(ctx context.Context, args ...string) ([]byte, error) {
		command := &k.call.Command
		path, err := k.call.Settings.StarterInUse().Look(command.Args[0], command.Dir)
		if err != nil {
			return nil, err
		}
		j.asked++
		var stdout, stderr bytes.Buffer
		var process call.Process
		end := func() {}
		exit, err := k.call.Settings.StarterInUse().Run(supervise.Spec{
			Path: path, Args: append([]string{command.Args[0]}, args...), Dir: command.Dir, Env: k.call.Env, RunID: k.call.ID,
			Stdout: &limited{&stdout, 16 << 20}, Stderr: &limited{&stderr, 64 << 10},
			Placement: supervise.OwnSession, Timeout: askTimeout,
		}, func(p call.Process) {
			process = p
			stop := context.AfterFunc(ctx, func() { p.Stop(supervise.Terminate) })
			end = func() { stop() }
		})
		end()
		switch {
		case err != nil:
			return nil, err
		case exit.Reason != supervise.Exited:
			return nil, fmt.Errorf("%s %s did not answer", command.Name(), args[0])
		case exit.Code != 0:
			if len(exit.Left) > 0 {
				process.EndTree()
			}
			return nil, fmt.Errorf("%s %s: %s", command.Name(), args[0], message.LastLine(verdict.LastLines(stderr.String(), 1, 200)))
		}
		return stdout.Bytes(), nil
	}
}

// limited keeps what there is room for and drops the rest.
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
