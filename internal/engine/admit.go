package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Gate says how a runner takes part in what all processes share.
type Gate struct {
	// Key names the limit: all who name the same share it. Empty means the agent's own, and none for other commands.
	Key string
	// Off takes part in no gate.
	Off      bool
	Settings gate.Settings
	// MaxParallel is how many attempts may be under way at the same time; 0 means no bound.
	MaxParallel int
}

// Gates is the store of the gates of a state directory.
func (s *State) Gates() *gate.Files { return &gate.Files{Dir: filepath.Join(s.Dir, "gates")} }

func (s *State) slots() gate.Slots { return gate.Slots{Dir: filepath.Join(s.Dir, "gates")} }

// admission is the right to start one attempt. The zero value is that of a run without a gate.
type admission struct {
	pass *gate.Pass
	slot *gate.Slot
}

// admit waits until the attempt may start. If it may not, the refused attempt says why.
func (inv *Invocation) admit(n int) (admission, *attempt) {
	g := inv.sharedGate()
	if g == nil {
		return admission{}, nil
	}
	key := g.Key
	watch := newWatcher(g)
	defer watch.end()
	var waiting *gate.Refusal
	looks := 0
	defer func() {
		if waiting != nil {
			inv.waited(n)
		}
	}()
	for {
		var slot *gate.Slot
		var refusal *gate.Refusal
		if inv.runner.Gate.MaxParallel > 0 {
			if refusal = g.Peek(); refusal == nil { // who is held has no use for a slot
				slot, refusal = inv.takeSlot(key)
			}
		}
		if refusal == nil {
			var pass *gate.Pass
			if pass, refusal = g.Enter(fmt.Sprintf("%s/%d", inv.id, n)); refusal == nil {
				return admission{pass, slot}, nil
			}
			slot.Free()
		}
		changed, fresh := watch.changes(refusal)
		if fresh { // it may have changed before it was watched
			continue
		}
		looks++
		d, err := inv.patience(refusal, looks, changed != nil)
		if err != nil {
			return admission{}, inv.refusedByGate(refusal, err)
		}
		if waiting == nil || !alike(waiting, refusal) {
			waiting, looks = refusal, 1
			inv.announce(n, refusal)
		}
		if err := inv.doze(d, changed); err != nil {
			return admission{}, inv.refusedByGate(refusal, err)
		}
	}
}

// sharedGate is the gate that the invocation takes part in; nil if there is none.
func (inv *Invocation) sharedGate() *gate.Gate {
	key := inv.runner.gateKey()
	if key == "" || inv.state == nil {
		return nil
	}
	return &gate.Gate{Store: inv.state.Gates(), Key: key, Caller: inv.id, Settings: inv.runner.Gate.Settings, Trouble: inv.gateTrouble}
}

// alike reports whether two refusals say the same to a person.
func alike(a, b *gate.Refusal) bool {
	return a.Kind == b.Kind && a.Reason == b.Reason && a.Until.Sub(b.Until).Abs() < time.Second
}

// takeSlot takes one of the gate's slots, which are bounded.
func (inv *Invocation) takeSlot(key string) (*gate.Slot, *gate.Refusal) {
	n := inv.runner.Gate.MaxParallel
	slot, err := inv.state.slots().Take(key, n, inv.id)
	if errors.Is(err, gate.ErrFull) {
		return nil, &gate.Refusal{Kind: "slots", Reason: fmt.Sprintf("%d of %d are taken", n, n)}
	}
	if err != nil {
		inv.gateTrouble(err)
	}
	return slot, nil
}

// gateTrouble says once what the gate could not do.
func (inv *Invocation) gateTrouble(err error) {
	if !inv.gateTroubled {
		inv.gateTroubled = true
		inv.observe(GateTrouble{Key: inv.runner.gateKey(), Err: err})
	}
}

// announce says what is waited for.
func (inv *Invocation) announce(n int, r *gate.Refusal) {
	inv.update(supervise.StateWaiting, n, fmt.Sprintf("gate %s: %s", inv.runner.gateKey(), Describe(*r)), r.Until)
	inv.observe(AtGate{Key: inv.runner.gateKey(), Refusal: *r}) // after the record: who hears of it may look there
}

func (inv *Invocation) waited(n int) {
	inv.observe(WaitOver{})
	inv.update(supervise.StateRunning, n, "", time.Time{})
}

// refusedByGate is an attempt that was not admitted. cause is why it was not waited for.
func (inv *Invocation) refusedByGate(r *gate.Refusal, cause error) *attempt {
	key := inv.runner.gateKey()
	var stop *retry.Error
	if !errors.As(cause, &stop) {
		a := inv.stoppedEarly(cause)
		return &a
	}
	v := verdict.Verdict{Class: verdict.BreakerOpen, Rule: "gate", Evidence: Describe(*r), Sent: verdict.SentNo}
	if r.Kind == "hold" {
		v.Class, v.Retryable = verdict.RateLimit, true
		if strings.HasPrefix(r.Reason, string(verdict.UsageLimit)+" of ") { // as report has put it
			v.Class, v.Retryable = verdict.UsageLimit, false
		}
	}
	message := fmt.Sprintf("gate %s does not let it start (%s)", key, Describe(*r))
	if !r.Until.IsZero() {
		v.Hint.At = r.Until
		message += fmt.Sprintf(" until %s", When(r.Until))
	}
	return &attempt{code: -1, again: true, verdict: v, refusedAt: r.Until,
		message: message + fmt.Sprintf("; to lift it: %s; retry later", LiftCommand(key))}
}

// report tells the gate what became of an attempt. The reason that others are shown is the class and the command's name:
// what a command prints may hold what is nobody else's business.
func (ad admission) report(a *attempt, command string) {
	defer ad.slot.Free()
	if ad.pass == nil {
		return
	}
	switch v := a.verdict; {
	case v.Class == verdict.OK:
		ad.pass.Succeeded()
	case v.Class.Throttle():
		ad.pass.Throttled(v.Hint.Wait(time.Now()), fmt.Sprintf("%s of %s", v.Class, command))
	case a.timedOut, a.stopCode != 0, !a.started, !v.Retryable:
		// Our own deadline, a cancel, what is wrong in itself: nothing of that says that the service is ill.
		ad.pass.Released()
	default:
		ad.pass.Failed(fmt.Sprintf("%s of %s, exit %d", v.Class, command, a.code))
	}
}

// answered says that the service answers.
func (ad admission) answered() {
	if ad.pass != nil {
		ad.pass.Answered()
	}
}

// during tells the gate why a call tries again by itself.
func (ad admission) during(v verdict.Verdict, command string) {
	switch {
	case ad.pass == nil:
	case v.Class.Throttle():
		ad.pass.Throttling(v.Hint.Wait(time.Now()), fmt.Sprintf("%s of %s", v.Class, command))
	case v.Retryable:
		ad.pass.Failing(fmt.Sprintf("%s of %s", v.Class, command))
	}
}

// leased says that others wait for the first answer of the call.
func (ad admission) leased() bool { return ad.pass != nil && ad.pass.Leased() }

// renewals bounds how often a lease is renewed that nobody has answered: a command that hangs must let others try.
const renewals = 10

// renew keeps the lease of a call that is under way and not answered yet.
func (ad admission) renew(ended <-chan struct{}) {
	tick := time.NewTicker(ad.pass.Interval())
	defer tick.Stop()
	for range renewals {
		select {
		case <-ended:
			return
		case <-tick.C:
			ad.pass.Renew()
		}
	}
}

// stoppedEarly is an attempt that was never started because somebody ended the invocation, or its time was over.
func (inv *Invocation) stoppedEarly(cause error) attempt {
	if c := context.Cause(inv.ctx); c != nil {
		cause = c
	}
	a := attempt{code: -1}
	inv.cutShort(&a, inv.command.name()+" was not started", cause)
	a.verdict.Sent = verdict.SentNo
	return a
}
