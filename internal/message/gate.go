package message

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/printable"
)

// Gate names a gate, before a countdown.
func Gate(key string) string { return "gate " + key }

// GateState says in a few words why a gate refuses, as belay ps shows it.
func GateState(r gate.Refusal) string {
	text := map[gate.Kind]string{
		gate.KindHold:      "held",
		gate.KindBreaker:   "breaker open",
		gate.KindProbe:     "one probe at a time",
		gate.KindSlowStart: "slow start after a hold",
		gate.KindSlots:     "all slots taken",
	}[r.Kind]
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// SlotsTaken is why a gate that is otherwise healthy refuses.
func SlotsTaken(n int) string { return fmt.Sprintf("%d of %d are taken", n, n) }

// AtGate says which gate is waited at, why, until when, and what lifts it.
func AtGate(key string, r gate.Refusal) string {
	what := fmt.Sprintf("gate %s: %s", key, GateState(r))
	switch {
	case !r.Until.IsZero():
		return fmt.Sprintf("%s (%s left); waiting until %s (to lift it: %s)", what, span(max(0, time.Until(r.Until))), When(r.Until), printable.LiftCommand(key))
	case r.Kind != gate.KindSlots:
		return fmt.Sprintf("%s (to lift it: %s)", what, printable.LiftCommand(key))
	}
	return what
}

// GateRefused says that a gate did not let a command start. lift says whether to name the command that lifts it.
func GateRefused(key string, r gate.Refusal, lift bool) string {
	text := fmt.Sprintf("gate %s does not let it start (%s)", key, GateState(r))
	if !r.Until.IsZero() {
		text += " until " + When(r.Until)
	}
	if lift {
		text += "; to lift it: " + printable.LiftCommand(key)
	}
	return text + "; retry later"
}

// GateAnew says that the file of a gate was damaged.
func GateAnew(key string, err error) string { return fmt.Sprintf("gate %s begins anew: %v", key, err) }

// GateOff says that a gate cannot be used.
func GateOff(key string, err error) string {
	return fmt.Sprintf("gate %s is not in force for this run: %v", key, err)
}

// SlotsOff says that the slots of a gate cannot be used.
func SlotsOff(key string, err error) string {
	return fmt.Sprintf("--max-parallel is not in force at gate %s for this run: %v", key, err)
}

// GateFailing says that the breaker of a gate is about to open.
func GateFailing(name, key string, failures, of int) string {
	return fmt.Sprintf("%s has failed %d times in a row on gate %s; after %d nothing is let through for a while", name, failures, key, of)
}

// RetriesSpent says that the retries that all processes share are used up. lift says whether to name the command that fills
// them up.
func RetriesSpent(key string, lift bool) string {
	if lift {
		return fmt.Sprintf("the local retry budget is used up (gate %s; to fill it: %s)", key, printable.LiftCommand(key))
	}
	return fmt.Sprintf("the local retry budget is used up (gate %s)", key)
}

// ScopeBusy says that another run has the scope. replaced says that it was asked to stop.
func ScopeBusy(key string, holders []string, replaced bool) string {
	what := "waiting for it"
	if replaced {
		what = "it is asked to end"
	}
	return fmt.Sprintf("scope %s is taken by run %s; %s", key, strings.Join(holders, ", "), what)
}

// ScopeTaken says that a run was not started because another one has the scope. look says whether to name the command that
// shows it.
func ScopeTaken(key string, look bool) string {
	text := fmt.Sprintf("scope %s is taken by another run", key)
	if look {
		text += "; see: belay ps"
	}
	return text + "; retry later"
}

// ScopeState says in a few words what a run waits for, as belay ps shows it.
func ScopeState(key string) string { return "scope " + key + " is taken" }

// ScopeOff says that a scope cannot be used.
func ScopeOff(key string, err error) string {
	return fmt.Sprintf("scope %s is not in force for this run: %v", key, err)
}

// TooLate says why the next attempt was not waited for. flag is what bounds the waiting; empty where there are none.
func TooLate(total, noWait bool, flag string) string {
	switch {
	case flag == "" && total:
		return "the next attempt would come after the total timeout"
	case flag == "" && noWait:
		return "the next attempt would have to wait, and no wait is allowed"
	case flag == "":
		return "the next attempt would exceed the longest wait"
	case noWait && !total:
		return fmt.Sprintf("the next attempt would have to wait, and %s says not to", flag)
	}
	return "the next attempt would come too late for " + flag
}
