// Package overview says how things stand now: gates with the runs that wait at them, and budgets. What shows them, on a terminal, as JSON or
// on a page, asks here.
package overview

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
)

// Gate is a gate and the runs that wait at it.
type Gate struct {
	gate.Entry
	Waiting []Waiter `json:"waiting"`
	// Full says that it is healthy and all its slots are taken.
	Full bool `json:"full,omitempty"`
}

// Waiter is a run that waits.
type Waiter struct {
	ID      string `json:"id"`
	PID     int    `json:"pid"`
	Command string `json:"command"`
	Machine string `json:"machine,omitempty"` // in a fleet
}

// Gates returns the gates that are not healthy, and those that runs wait at, and the limits that something is known of, by account; never nil.
func Gates(s *state.State) ([]Gate, []Limit, error) {
	entries, err := s.Gates().List()
	now := clock.Now()
	runs, _ := Runs(s.Records()) // without them, the gates are still shown
	return GatesOf(entries, now, runs, func(i int) Waiter {
		return Waiter{ID: runs[i].ID, PID: runs[i].Owner.PID, Command: runs[i].Command}
	}), LimitsOf(entries, now), err
}

// GatesOf returns those that are not healthy, with the runs that wait, also for a slot of a gate that is healthy; waiter tells of the i-th.
func GatesOf(entries []gate.Entry, now time.Time, runs []supervise.Record, waiter func(i int) Waiter) []Gate {
	gates := []Gate{}
	for _, e := range entries {
		e.State.Quota = nil // which keeps nobody out
		if !e.State.Healthy(now) {
			gates = append(gates, Gate{Entry: e, Waiting: []Waiter{}})
		}
	}
	for i, r := range runs {
		reason, atGate := strings.CutPrefix(r.Reason, "gate ")
		if r.State != supervise.StateWaiting || !atGate {
			continue
		}
		at := slices.IndexFunc(gates, func(g Gate) bool { return strings.HasPrefix(reason, g.Key+":") })
		if key, _, full := strings.Cut(reason, ": "+AllTaken()); at < 0 && full {
			at = len(gates)
			gates = append(gates, Gate{Entry: gate.Entry{Key: key}, Full: true})
		}
		if key, why, held := strings.Cut(reason, ": "+onHold+": "); at < 0 && held && strings.HasSuffix(why, quota.Kept) { // the gate itself holds no other run
			at = len(gates)
			gates = append(gates, Gate{Entry: gate.Entry{Key: key, State: gate.State{}.Held(now, r.Until, why)}})
		}
		if at >= 0 {
			gates[at].Waiting = append(gates[at].Waiting, waiter(i))
		}
	}
	return gates
}

// onHold is how a gate says that it holds a run.
var onHold = message.GateState(gate.Refusal{Kind: gate.KindHold})

// AllTaken is how a gate says that it has no slot left.
func AllTaken() string { return message.GateState(gate.Refusal{Kind: gate.KindSlots}) }

// Columns is what keeps callers out of a gate at now, or did so last. A hold and the breaker may do so both.
func Columns(s gate.State, now time.Time) (state string, since, until time.Time, reason string) {
	held, b := s.Hold.Live(now), s.Breaker
	switch {
	case held && b.Phase != breaker.Closed:
		if until = now.Add(s.Hold.Left(now)); b.Until.IsZero() || b.Until.After(until) {
			until = b.Until
		}
		return "held, breaker " + b.At(breaker.Settings{}, now).String(), s.Hold.Since, until, s.Hold.Reason + "; " + b.Reason
	case held:
		return "held", s.Hold.Since, now.Add(s.Hold.Left(now)), s.Hold.Reason
	case b.Phase != breaker.Closed:
		return b.At(breaker.Settings{}, now).String(), b.Since, b.Until, b.Reason
	case s.Ramp.Live(now):
		return fmt.Sprintf("slow start, %d at a time", s.Ramp.Allowed), s.Hold.Since, time.Time{}, s.Hold.Reason
	case b.Failures > 0:
		return "closed, " + message.Count(b.Failures, "failure"), b.Since, time.Time{}, b.Reason
	}
	return "closed", time.Time{}, time.Time{}, ""
}

// Columns is the same for a gate whose slots may be taken.
func (g *Gate) Columns(now time.Time) (state string, since, until time.Time, reason string) {
	state, since, until, reason = Columns(g.State, now)
	if g.Full {
		state, reason = "full", AllTaken()
	}
	return state, since, until, reason
}

// Closed reports whether nothing may start through the gate now.
func (g *Gate) Closed(now time.Time) bool {
	return g.Full || g.State.Hold.Live(now) || g.State.Breaker.At(breaker.Settings{}, now) == breaker.Open
}

// RunState says what a run does now.
func RunState(r supervise.Record) string {
	switch {
	case r.State != supervise.StateWaiting:
		return message.RunningState(r.Attempt, r.Memory)
	case r.Until.IsZero(): // it is not known when a slot or a scope is free
		return message.WaitingState(0, "", r.Reason)
	}
	return message.WaitingState(max(0, time.Until(r.Until)), r.Until.Local().Format(time.TimeOnly), r.Reason)
}

// Runs returns the runs under way, oldest first.
func Runs(records supervise.Records) ([]supervise.Record, error) {
	runs, err := records.List()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	slices.SortFunc(runs, func(a, b supervise.Record) int { return strings.Compare(a.ID, b.ID) })
	return runs, nil
}
