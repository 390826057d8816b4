package message

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/verdict"
)

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

// StartsWhenLifted says that a command starts when a limit is over, and when that is.
func StartsWhenLifted(name, key string, r gate.Refusal) string {
	return fmt.Sprintf("%s; %s starts when it is lifted", refusal(key, r), name)
}

// gateReason is the reason that a gate gives, in words: one that begins with a class is "rate_limit of claude".
func gateReason(reason string) string {
	if class, _, ok := strings.Cut(reason, " of "); ok && classes[verdict.Class(class)].noun != "" {
		return Noun(verdict.Class(class))
	}
	return reason
}

// AtGate says which gate is waited at, until when, why, and what lifts it.
func AtGate(key string, r gate.Refusal) string {
	text := refusal(key, r) + "; waiting"
	if r.Kind == gate.KindSlots { // that is nothing to lift
		return text
	}
	return Sentences(text, liftHint(key))
}

func liftHint(key string) string { return "to lift it: " + printable.LiftCommand(key) }

// GateRefused says that a gate did not let a command start. notWaiting says why it was not waited for, if there is more to say; lift says
// whether to name the command that lifts it.
func GateRefused(key string, r gate.Refusal, notWaiting string, lift bool) string {
	text := Sentences(refusal(key, r), notWaiting)
	if lift && r.Kind != gate.KindSlots {
		text = Sentences(text, liftHint(key))
	}
	return Later(text)
}

// RetriesSpent says that the retries that all processes share are used up, until at if that is known. lift says whether to name the
// command that refills them.
func RetriesSpent(key string, at time.Time, lift bool) string {
	text := fmt.Sprintf("the local retry budget of gate %s is used up", key)
	if !at.IsZero() {
		text += " until " + When(at)
	}
	if lift {
		text = Sentences(text, "to refill it: "+printable.LiftCommand(key))
	}
	return text
}

// ScopeBusy says that other runs have the scope. replaced says that they were asked to stop.
func ScopeBusy(key string, holders []string, replaced bool) string {
	what := "waiting for it"
	if replaced {
		what = "asked it to stop"
	}
	return fmt.Sprintf("scope %s is taken by run %s; %s", key, And(holders), what)
}

// ScopeTaken says that a run was not started because another one has the scope. notWaiting says why it was not waited for, if there is more
// to say; look says whether to name the command that shows it.
func ScopeTaken(key, notWaiting string, look bool) string {
	text := Sentences(fmt.Sprintf("scope %s is taken by another run", key), notWaiting)
	if look {
		text = Sentences(text, "see: belay ps")
	}
	return Later(text)
}

// ScopeState says in a few words what a run waits for, as belay ps shows it.
func ScopeState(key string) string { return "scope " + key + " is taken" }

// GatesHealthy is the answer where there is no gate to show.
func GatesHealthy() string { return "all gates are healthy" }

// NotThisGate says that a gate is healthy. near, if not empty, is the one that was probably meant; known are those that are not healthy.
func NotThisGate(key, near string, known []string) string {
	text := fmt.Sprintf("nothing to reset: gate %s is healthy", key)
	switch {
	case near != "":
		text += "; did you mean: " + printable.LiftCommand(near)
	case len(known) > 0:
		text += "; these can be reset: " + strings.Join(known, ", ")
	}
	return text
}

// GateReset says that a gate was reset.
func GateReset(key string) string { return fmt.Sprintf("gate %s was reset", key) }

// GateHolds says that a gate was put on hold.
func GateHolds(key string, until time.Time) string {
	return fmt.Sprintf("gate %s is on hold until %s", key, When(until))
}

// SetByHand is why a gate is on hold if no reason is given.
func SetByHand() string { return "set by hand" }

// ChangeUnrecorded says that a change is not on record.
func ChangeUnrecorded(err error) string { return fmt.Sprintf("the change was not recorded: %v", err) }
