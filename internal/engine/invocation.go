package engine

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/events"
	"github.com/belay-run/belay/internal/engine/spending"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/supervise"
)

// Invocation is one request of a caller, from start to result.
type Invocation struct {
	candidate                              // the caller's own command
	standIns  []standIn                    // the fallbacks that are left
	unfit     []*belaytype.FallbackRefused // those that are not asked
	signals   control
	stream    events.Stream
	viewers   events.Viewers
	checker   *checker // nil if work is not checked

	troubleOnce sync.Once // the state's trouble is said once

	cancel    context.CancelCauseFunc
	done      chan struct{}
	concealed []string // see Conceal

	result *belaytype.Result
	err    error
}

func newInvocation(ctx context.Context, r *call.Settings, c call.Command, env []string) *Invocation {
	now := time.Now()
	c.ShareWriter()
	inv := &Invocation{done: make(chan struct{})}
	inv.stream.Observe = r.Observe
	id := r.ID
	if id == "" {
		id = newID(now)
	}
	inv.call = &call.Call{ID: id, Settings: r, Command: c, Env: env, Profile: r.ProfileInUse(), Begun: now, Parent: EnclosingRun(), Emit: inv.stream.Emit, Line: inv.viewers.Line,
		Live: &call.LiveRecord{Trouble: inv.trouble}}
	inv.viewers.Stream, inv.viewers.ID = &inv.stream, id
	inv.pace, inv.control = &admission.Pace{NoWait: r.NoWait}, &inv.signals
	inv.spending = &spending.Ledger{}
	inv.kind = newKind(inv.call, inv.pace, inv.spending)
	inv.call.Secrets = &redact.Known{Env: env, Args: c.Args, Prompt: inv.prompts}
	inv.call.Traits = inv.kind.traits()
	inv.login.File = inv.call.Traits.Login
	inv.pace.Policy = inv.kind.policy(r.Policy)
	inv.pace.Series = inv.pace.Policy.Start(now)
	inv.pace.Ctx, inv.cancel = context.WithCancelCause(ctx)
	if inv.call.Checks() {
		inv.checker = &checker{call: inv.call}
	}
	return inv
}

// ID names the invocation in records, in the log and to belay cancel.
func (inv *Invocation) ID() string { return inv.call.ID }

// Redact returns a text without what the invocation is known to keep secret.
func (inv *Invocation) Redact(text string) string { return inv.call.Secrets.Text(text) }

// Conceal keeps texts out of all that is put on record, as the prompt is: what a task of a batch has put into the arguments of a
// plain command. It is called before [Invocation.Run].
func (inv *Invocation) Conceal(texts ...string) { inv.concealed = append(inv.concealed, texts...) }

// Wait returns the result: see [Runner.Run].
func (inv *Invocation) Wait() (*belaytype.Result, error) {
	<-inv.done
	return inv.result, inv.err
}

// Over reports whether Wait would return at once.
func (inv *Invocation) Over() bool {
	select {
	case <-inv.done:
		return true
	default:
		return false
	}
}

// Cancel ends the invocation: a running command is stopped with its whole tree, a wait is cut short. The cause may
// be an [*Interrupt].
func (inv *Invocation) Cancel(cause error) { inv.cancel(cause) }

// TakeStopRequest returns who has asked for the invocation to be stopped by the SIGTERM that this process was just sent, if that was
// another process of Belay. Each request is returned once.
func (inv *Invocation) TakeStopRequest() (supervise.StopRequest, bool) {
	return inv.call.Live.TakeRequest()
}

// Signal passes a signal on to the running command, if there is one, or to the one that is just being started.
func (inv *Invocation) Signal(sig syscall.Signal) { inv.control.signal(sig) }

// Interrupt says that the command was sent a signal, not by us: by the terminal, say, that it shares with us. What it makes
// of that is left to it, as it would be without us; but there will be no further attempt, and a wait is cut short. Where
// more was asked for than to run the command, the second interrupt kills it.
func (inv *Invocation) Interrupt(cause error) {
	idle, again := inv.control.interrupt(cause)
	again = again && (inv.pace.MayRepeat() || inv.checker != nil)
	if idle || again {
		inv.cancel(cause)
	}
	if again {
		inv.Kill()
	}
}

// Kill ends the invocation at once, without asking the command first.
func (inv *Invocation) Kill() {
	process := inv.control.kill() // before the context ends, which asks
	inv.cancel(context.Canceled)
	if process != nil {
		process.Kill()
	}
}

// prompts are what the command was asked: in its arguments, beside them and on stdin, what it is told to go on, and what its
// caller conceals. Each stands for itself, since an error may quote any of them.
func (inv *Invocation) prompts() []string {
	list := append(inv.kind.prompts(), inv.call.Settings.Resume.Prompt)
	if beside := inv.call.Command.Prompt; beside != nil {
		list = append(list, *beside)
	}
	if inv.checker != nil {
		list = append(list, inv.checker.told, inv.call.Settings.Check.Prompt)
	}
	if asksModel(inv.call) {
		list = append(list, texts(inv.call.Command.Args)...)
	}
	return append(list, inv.concealed...)
}

// asksModel reports whether the command is an agent's, also where it is run as a plain one.
func asksModel(c *call.Call) bool {
	if _, ok := c.Profile.(agent.Agent); ok {
		return true
	}
	cli := profile.Find(c.Command.Name())
	return cli != nil && cli.IsAgent()
}

// texts are the arguments of an agent that are texts and not names: its prompt, wherever it stands, and what it is told of its
// task, such as a system prompt. No knowledge of the CLI is needed for that, which has options that no profile knows.
func texts(args []string) (list []string) {
	for _, arg := range args {
		if option, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(option, "-") && !strings.ContainsAny(option, " \t\n") {
			arg = value
		}
		if strings.ContainsAny(strings.TrimSpace(arg), " \t\n") {
			list = append(list, arg)
		}
	}
	return list
}

// NewID returns an id for something that has runs inside it, as they have themselves.
func NewID() string { return newID(time.Now()) }

// newID returns a UUIDv7: ids sort by time. They name things and guard nothing, so the runtime's own generator,
// seeded by the system, will do.
func newID(now time.Time) string {
	var u [16]byte
	binary.BigEndian.PutUint64(u[:8], uint64(now.UnixMilli())<<16|rand.Uint64()&0x0fff|0x7000)
	binary.BigEndian.PutUint64(u[8:], rand.Uint64()&^(3<<62)|2<<62)
	var s [36]byte
	hex.Encode(s[:8], u[:4])
	hex.Encode(s[9:13], u[4:6])
	hex.Encode(s[14:18], u[6:8])
	hex.Encode(s[19:23], u[8:10])
	hex.Encode(s[24:], u[10:])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}

// Events are what happens, as [Runner.Observe] is told, and the lines that an agent prints. Each reader gets all that happens
// from its call on; the first one after [Runner.Start] gets everything. They end with the invocation. A reader that does not
// keep up holds nothing up: it misses lines, see [Missed].
func (inv *Invocation) Events() iter.Seq[belaytype.Event] {
	r := inv.stream.Join()
	return func(yield func(belaytype.Event) bool) {
		defer inv.stream.Leave(r)
		r.Each(yield)
	}
}

// newKind finds out what kind of command it is.
func newKind(c *call.Call, p *admission.Pace, s *spending.Ledger) kind {
	base := plain{call: c, pace: p, spending: s}
	switch profile := c.Profile.(type) {
	case agent.Agent:
		if profile.Headless() {
			return newTurn(base, profile)
		}
	case agent.Caller:
		info := profile.CallerInfo()
		if info.Changes {
			base.changes = &changes{verify: info.Verify}
		}
		if profile.Headless() {
			return &caller{plain: base, caller: profile, info: info}
		}
	}
	return &base
}

// trouble says once what could not be kept.
func (inv *Invocation) trouble(err error) {
	inv.troubleOnce.Do(func() { inv.call.Emit(belaytype.StateTrouble{Err: err}) })
}
