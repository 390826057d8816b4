package message

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/verdict"
)

// Gate names a gate, before a countdown.
func Gate(key string) string { return "gate " + key }

// GateState says in a few words why a gate refuses, as belay ps shows it.
func GateState(r gate.Refusal) string {
	text := map[gate.Kind]string{
		gate.KindHold:      "on hold",
		gate.KindBreaker:   "breaker open",
		gate.KindProbe:     "testing whether it works again",
		gate.KindSlowStart: "slow start after a hold",
		gate.KindSlots:     "all slots taken",
	}[r.Kind]
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// SlotsTaken is why a gate refuses that is otherwise healthy.
func SlotsTaken(n int) string { return fmt.Sprintf("%d of %d in use", n, n) }

// refusal says that a gate lets nothing start, until when, and why.
func refusal(key string, r gate.Refusal) string {
	text := "gate " + key
	switch r.Kind {
	case gate.KindHold:
		text += " is on hold"
	case gate.KindBreaker:
		text += " is blocked"
		if r.Until.IsZero() {
			text += " until it is reset"
		}
	case gate.KindProbe:
		text += " is blocked until a test call succeeds"
	case gate.KindSlowStart:
		text += " lets calls start one by one after a hold"
	case gate.KindSlots:
		text += " is full"
	}
	if !r.Until.IsZero() && (r.Kind == gate.KindHold || r.Kind == gate.KindBreaker) {
		text += " until " + When(r.Until)
	}
	if reason := gateReason(r.Reason); reason != "" {
		text += fmt.Sprintf(" (%s)", reason)
	}
	return text
}

// gateReason is the reason that a gate gives, in words: one that begins with a class is "rate_limit of claude".
func gateReason(reason string) string {
	if class, _, ok := strings.Cut(reason, " of "); ok && nouns.Of(verdict.Class(class)) != "" {
		return nouns.Of(verdict.Class(class))
	}
	return reason
}

// AtGate says which gate is waited at, until when, why, and what lifts it.
func AtGate(key string, r gate.Refusal) string {
	text := refusal(key, r) + "; waiting"
	if r.Kind == gate.KindSlots { // that is nothing to lift
		return text
	}
	return sentences(text, liftHint(key))
}

func liftHint(key string) string { return "to lift it: " + printable.LiftCommand(key) }

// GateRefused says that a gate did not let a command start. notWaiting says why it was not waited for, if there is more to say; lift says
// whether to name the command that lifts it.
func GateRefused(key string, r gate.Refusal, notWaiting string, lift bool) string {
	text := sentences(refusal(key, r), notWaiting)
	if lift && r.Kind != gate.KindSlots {
		text = sentences(text, liftHint(key))
	}
	return Later(text)
}

// GateAnew says that the file of a gate was damaged.
func GateAnew(key string, err error) string { return fmt.Sprintf("gate %s was reset: %v", key, err) }

// GateOff says that a gate cannot be used.
func GateOff(key string, err error) string {
	return fmt.Sprintf("gate %s cannot be used for this run: %v", key, err)
}

// SlotsOff says that the slots of a gate cannot be used.
func SlotsOff(key string, err error) string {
	return fmt.Sprintf("--max-parallel cannot be enforced at gate %s: %v", key, err)
}

// GateFailing says that the breaker of a gate is about to open.
func GateFailing(name, key string, failures, of int) string {
	return fmt.Sprintf("%s has failed %d times in a row; after %d failures gate %s blocks all calls for a while", name, failures, of, key)
}

// RetriesSpent says that the retries that all processes share are used up, until at if that is known. lift says whether to name the
// command that refills them.
func RetriesSpent(key string, at time.Time, lift bool) string {
	text := fmt.Sprintf("the local retry budget of gate %s is used up", key)
	if !at.IsZero() {
		text += " until " + When(at)
	}
	if lift {
		text = sentences(text, "to refill it: "+printable.LiftCommand(key))
	}
	return text
}

// ScopeBusy says that other runs have the scope. replaced says that they were asked to stop.
func ScopeBusy(key string, holders []string, replaced bool) string {
	what := "waiting for it"
	if replaced {
		what = "asked it to stop"
	}
	return fmt.Sprintf("scope %s is taken by run %s; %s", key, and(holders), what)
}

// ScopeTaken says that a run was not started because another one has the scope. notWaiting says why it was not waited for, if there is more
// to say; look says whether to name the command that shows it.
func ScopeTaken(key, notWaiting string, look bool) string {
	text := sentences(fmt.Sprintf("scope %s is taken by another run", key), notWaiting)
	if look {
		text = sentences(text, "see: belay ps")
	}
	return Later(text)
}

// ScopeState says in a few words what a run waits for, as belay ps shows it.
func ScopeState(key string) string { return "scope " + key + " is taken" }

// ScopeOff says that a scope cannot be used.
func ScopeOff(key string, err error) string {
	return fmt.Sprintf("scope %s cannot be enforced for this run: %v", key, err)
}

// GatesHealthy is the answer where there is no gate to show.
func GatesHealthy() string { return "all gates are healthy" }

// NameGates says that no gate is named.
func NameGates() string { return "name the gates, or use --all" }

// NothingToReset says that all gates are healthy.
func NothingToReset() string { return "nothing to reset: all gates are healthy" }

// NotThisGate says that a gate is healthy. near, if not empty, is the one that was probably meant; known are those that are not healthy.
func NotThisGate(key, near string, known []string) string {
	text := fmt.Sprintf("nothing to reset: gate %s is healthy", key)
	switch {
	case near != "":
		text += "; did you mean: " + printable.LiftCommand(near)
	case len(known) > 0:
		text += "; these are not: " + strings.Join(known, ", ")
	}
	return text
}

// GateReset says that a gate was reset.
func GateReset(key string) string { return fmt.Sprintf("gate %s was reset", key) }

// GateHolds says that a gate was put on hold.
func GateHolds(key string, until time.Time) string {
	return fmt.Sprintf("gate %s is on hold until %s", key, When(until))
}

// GateOpenedByHand says that a breaker was opened.
func GateOpenedByHand(key string) string {
	return sentences(fmt.Sprintf("the breaker of gate %s is open", key), "to close it: "+printable.LiftCommand(key))
}

// SetByHand is why a gate is on hold if no reason is given.
func SetByHand() string { return "set by hand" }

// OpenedByHand is why a breaker is open if no reason is given.
func OpenedByHand() string { return "opened by hand" }

// UntilMissing says that --until is missing.
func UntilMissing() string { return "--until is missing" }

// UntilPast says that a time has passed.
func UntilPast(value string) string { return value + " is in the past" }

// NotAnUntil says that the value of a flag is not a time.
func NotAnUntil(flag, value string) string {
	return fmt.Sprintf("%s: %q is not a duration (30m) or a future time (18:00)", flag, value)
}

// ChangeUnrecorded says that a change is not on record.
func ChangeUnrecorded(err error) string { return fmt.Sprintf("the change was not recorded: %v", err) }

// SlowStartState says in a few words that a gate lets few calls start at a time.
func SlowStartState(n int) string { return fmt.Sprintf("slow start, %d at a time", n) }

// ClosedState says in a few words that a gate has seen failures.
func ClosedState(failures int) string { return "closed, " + count(failures, "failure") }
