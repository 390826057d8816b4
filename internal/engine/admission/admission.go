// Package admission is the first stage: it says when an attempt may start. A [Gatekeeper] asks the gate for an [Admission], which belongs to one attempt and
// is told what became of it; a [Refusal] says why there is no attempt. [EnterScope] makes an invocation the only one of its scope. How much time and how many
// retries are left is in the [Pace].
package admission

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Admission is the right to start one attempt. A call without a gate has the zero value.
type Admission struct {
	pass *gate.Pass
	slot *gate.Slot
}

// Gatekeeper admits the attempts of a call, one after the other. The zero gate admits all.
type Gatekeeper struct {
	call *call.Call
	pace *Pace

	gate        *gate.Gate // nil if the call takes part in none
	troubleOnce sync.Once  // what the gate could not do is said once
	warned      bool       // that calls keep failing
	begun       bool       // an attempt was admitted
	kept        string     // the account of which a share is kept in reserve, if the last refusal was for that
}

// NewGatekeeper is the gatekeeper of a call's attempts.
func NewGatekeeper(c *call.Call, p *Pace) *Gatekeeper {
	k := &Gatekeeper{call: c, pace: p}
	if key := c.GateKey(); key != "" && c.Shared != nil {
		k.gate = &gate.Gate{Store: c.Shared, Key: key, Caller: c.ID, Settings: c.Settings.Gate.Settings, Trouble: k.trouble}
	}
	return k
}

// Admit waits until the attempt may start. If it may not, the refusal says why.
func (k *Gatekeeper) Admit(n int) (admitted Admission, refusal *Refusal) {
	if k.gate == nil {
		return Admission{}, nil
	}
	if k.call.Settings.WholeStream && k.call.Traits.Kind == call.AgentConversation { // to start one is not to ask the service for anything
		return Admission{pass: k.gate.Attend(fmt.Sprintf("%s/%d", k.call.ID, n))}, nil
	}
	watch := &watcher{shared: k.call.Shared, key: k.gate.Key}
	defer watch.end()
	var waiting *gate.Refusal
	looks := 0
	defer func() {
		if waiting != nil {
			k.call.Emit(belaytype.WaitOver{CutShort: refusal != nil})
			k.call.Live.Update(supervise.StateRunning, n, "", time.Time{})
		}
	}()
	for {
		ad, refused := k.ask(n)
		if refused == nil {
			k.begun = true
			return ad, nil
		}
		if looks == 0 && k.isMissing() {
			return Admission{}, nil // the attempt says so
		}
		if k.failsFast(refused) {
			return Admission{}, k.refuse(refused, &retry.Error{Cause: retry.ErrMaxWait, NotBefore: refused.Until})
		}
		changed, fresh := watch.changes(refused)
		if fresh { // it may have changed before it was watched
			continue
		}
		looks++
		d, err := k.pace.pollInterval(refused, looks, changed != nil)
		if err != nil {
			return Admission{}, k.refuse(refused, err)
		}
		if waiting == nil || !alike(waiting, refused) {
			waiting, looks = refused, 1
			k.announce(n, refused)
		}
		if err := k.pace.sleepAtGate(d, changed); err != nil {
			return Admission{}, k.refuse(refused, err)
		}
	}
}

// isMissing reports whether there is nothing to start, for which nothing is waited for.
func (k *Gatekeeper) isMissing() bool {
	c := k.call
	_, err := c.Settings.StarterInUse().Look(c.Command.Args[0], c.Command.Dir)
	return errors.Is(err, fs.ErrNotExist)
}

// failsFast reports whether a refusal is not worth a wait: an open breaker, to a policy that says so. An invocation that has begun
// waits for it in any case, since its own failures may have opened it.
func (k *Gatekeeper) failsFast(r *gate.Refusal) bool {
	return r.Kind == gate.KindBreaker && k.pace.Policy.NoBreakerWait && !k.begun
}

// ask asks the gate once, after a slot if these are bounded.
func (k *Gatekeeper) ask(n int) (Admission, *gate.Refusal) {
	if refused := k.peek(); refused != nil { // a call that is held has no use for a slot
		return Admission{}, refused
	}
	slot, refused := k.takeSlot()
	if refused != nil {
		return Admission{}, refused
	}
	pass, refused := k.gate.Enter(fmt.Sprintf("%s/%d", k.call.ID, n))
	if refused != nil {
		slot.Free()
		return Admission{}, refused
	}
	return Admission{pass, slot}, nil
}

// takeSlot takes one of the gate's slots, if these are bounded.
func (k *Gatekeeper) takeSlot() (*gate.Slot, *gate.Refusal) {
	n := k.call.Settings.Gate.MaxParallel
	if n == 0 {
		return nil, nil
	}
	slot, err := k.call.Shared.Take(k.gate.Key, n, k.call.ID)
	if errors.Is(err, gate.ErrFull) {
		return nil, &gate.Refusal{Kind: gate.KindSlots, Reason: fmt.Sprintf("%d of %d in use", n, n)}
	}
	if err != nil {
		k.trouble(err)
	}
	return slot, nil
}

// alike reports whether two refusals read the same to a person.
func alike(a, b *gate.Refusal) bool {
	return a.Kind == b.Kind && a.Reason == b.Reason && a.Until.Sub(b.Until).Abs() < time.Second
}

// trouble says once what the gate could not do.
func (k *Gatekeeper) trouble(err error) {
	k.troubleOnce.Do(func() { k.call.Emit(belaytype.GateTrouble{Key: k.call.GateKey(), Err: err}) })
}

// announce says what is waited for. The record comes first: a reader of the event may look there.
func (k *Gatekeeper) announce(n int, r *gate.Refusal) {
	k.call.Live.Update(supervise.StateWaiting, n, fmt.Sprintf("gate %s: %s", k.key(), message.GateState(*r)), r.Until)
	k.call.Emit(belaytype.AtGate{Key: k.key(), Refusal: *r})
}

// refuse is the end of a wait at the gate. cause is why it was not waited for any longer.
func (k *Gatekeeper) refuse(r *gate.Refusal, cause error) *Refusal {
	if _, ok := errors.AsType[*retry.Error](cause); !ok {
		return k.pace.CutShort(k.call, cause)
	}
	v := verdict.Verdict{Class: verdict.BreakerOpen, Rule: "gate", Evidence: message.GateState(*r), Sent: verdict.SentNo}
	if r.Kind == gate.KindHold {
		v.Class, v.Retryable = verdict.RateLimit, true
		if k.kept != "" || strings.HasPrefix(r.Reason, string(verdict.UsageLimit)+" of ") { // as report has put it
			v.Class, v.Retryable = verdict.UsageLimit, false
		}
	}
	v.Hint.At = r.Until
	why := &belaytype.GateRefused{Key: k.key(), Refusal: *r}
	said := &call.NotAdmitted{Cause: why}
	if r.Kind != gate.KindBreaker || !r.Until.IsZero() {
		said.Late = k.call.TooLate(r.Until)
		said.Late.Open = k.failsFast(r)
	}
	return &Refusal{Code: -1, Verdict: v, Message: k.call.CauseText(said), Barred: true, Stop: &retry.Error{Cause: why, NotBefore: r.Until}}
}

// Report tells the gate what became of an attempt. The reason that others are shown is the class and the command's name:
// what a command prints is not for others to read. unhealthy says that the outcome shows the service to be so.
func (ad Admission) Report(v verdict.Verdict, unhealthy bool, command string, code int) {
	defer ad.slot.Free()
	if ad.pass == nil {
		return
	}
	switch {
	case v.Class == verdict.OK:
		ad.pass.Succeeded()
	case v.Class.Throttle() && (v.Retryable || v.Class == verdict.UsageLimit):
		ad.pass.Throttled(v.Hint.Wait(clock.Now()), fmt.Sprintf("%s of %s", v.Class, command))
	case !unhealthy:
		ad.pass.Released()
	default:
		ad.pass.Failed(fmt.Sprintf("%s of %s, exit %d", v.Class, command, code))
	}
}

// Gated says that the call went through a gate.
func (ad Admission) Gated() bool { return ad.pass != nil }

// Answered says that the service answers.
func (ad Admission) Answered() {
	if ad.pass != nil {
		ad.pass.Answered()
	}
}

// During tells the gate why a call tries again by itself.
func (ad Admission) During(v verdict.Verdict, command string) {
	switch {
	case ad.pass == nil:
	case v.Class.Throttle():
		ad.pass.Throttling(v.Hint.Wait(clock.Now()), fmt.Sprintf("%s of %s", v.Class, command))
	case v.Retryable:
		ad.pass.Failing(fmt.Sprintf("%s of %s", v.Class, command))
	}
}

// DuringTalk tells the gate what came of a turn of a conversation, which goes on.
func (ad Admission) DuringTalk(v verdict.Verdict, command string) {
	if ad.pass != nil && v.Class == verdict.OK {
		ad.pass.Succeeding()
		return
	}
	ad.During(v, command)
}

// EndTalk says that a conversation is over, all turns of which were told.
func (ad Admission) EndTalk() {
	if ad.pass != nil {
		ad.pass.Released()
	}
	ad.slot.Free()
}

// Leased says that others wait for the first answer of the call.
func (ad Admission) Leased() bool { return ad.pass != nil && ad.pass.Leased() }

// renewals bounds how often a lease is renewed that was not answered: a command that hangs must let others try.
const renewals = 10

// Renew keeps the lease of a call that is under way and not answered yet.
func (ad Admission) Renew(ended <-chan struct{}) {
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

// Hold is the hold that a throttled attempt has led to, if it lasts longer than until; nil if there is none.
func (k *Gatekeeper) Hold(v verdict.Verdict, until time.Time) *gate.Refusal {
	if k.gate == nil || !v.Class.Throttle() {
		return nil
	}
	r := k.gate.Peek()
	if r == nil || r.Kind != gate.KindHold || !r.Until.After(until) {
		return nil
	}
	return r
}

// Spend takes a retry from the budget that all share. The error says that there is none.
func (k *Gatekeeper) Spend(v verdict.Verdict) *retry.Error {
	if k.gate == nil || v.Class.Throttle() {
		return nil
	}
	if ok, next := k.gate.Spend(); !ok {
		return &retry.Error{Cause: &belaytype.RetriesSpent{Key: k.gate.Key}, NotBefore: next}
	}
	return nil
}

// Warn says once that calls of a service keep failing, before the gate's breaker opens: from seven tenths of the failures on
// that it takes. A script of hundreds of calls may then be stopped in time. through says that the call went through the
// gate.
func (k *Gatekeeper) Warn(v verdict.Verdict, through bool) {
	if k.call.Traits.Kind != call.CallerCommand || k.warned || !through || !v.Retryable || v.Class.Throttle() {
		return
	}
	if failures, of := k.gate.Row(); failures >= (of*7+9)/10 {
		k.warned = true
		k.call.Emit(belaytype.GateFailing{Key: k.gate.Key, Failures: failures, Of: of})
	}
}

// key is the gate of the last refusal.
func (k *Gatekeeper) key() string { return cmp.Or(k.kept, k.gate.Key) }

// peek is the refusal that an attempt would get now, or nil. An invocation that has begun may use what is kept in reserve.
func (k *Gatekeeper) peek() *gate.Refusal {
	if keep := k.call.Settings.Reserve; len(keep) > 0 && !k.begun {
		state, _ := k.gate.Store.Load(k.call.Account()) // what cannot be read is not known
		if w := keep.Reached(state.Quota, clock.Now(), k.call.Model()); w != nil {
			k.kept = k.call.Account()
			return &gate.Refusal{Kind: gate.KindHold, Reason: keep.Say(w), Until: w.Resets}
		}
	}
	k.kept = ""
	return k.gate.Peek()
}

// AwaitHold sleeps while the gate holds. If that takes too long, the gate will say so.
func (k *Gatekeeper) AwaitHold(hold *gate.Refusal) error {
	watch := &watcher{shared: k.call.Shared, key: k.gate.Key}
	defer watch.end()
	for ; hold != nil && hold.Until.After(clock.Now()); hold = k.gate.Peek() {
		changed, fresh := watch.changes(hold)
		if fresh { // it may have changed before it was watched
			continue
		}
		poll, short := k.pace.pollInterval(hold, 1, changed != nil)
		if short != nil {
			return nil
		}
		if err := k.pace.sleepAtGate(poll, changed); err != nil {
			return err
		}
	}
	return nil
}

// ShareHold holds the gate for a limit that another model of the same account has hit.
func (k *Gatekeeper) ShareHold(v verdict.Verdict) {
	if k.gate == nil {
		return
	}
	if ad, refused := k.ask(0); refused == nil {
		ad.Report(v, false, k.call.Command.Name(), -1)
	}
}

// Held returns the gate, and what says what holds it; an empty key if the call takes part in none.
func (k *Gatekeeper) Held() (key string, held func() *gate.Refusal) {
	if k.gate == nil {
		return "", func() *gate.Refusal { return nil }
	}
	return k.gate.Key, k.peek
}
