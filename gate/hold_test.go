package gate_test

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/gate"
)

const (
	second = time.Second
	minute = time.Minute
)

func TestHold_Hint(t *testing.T) {
	for name, tt := range map[string]struct{ hint, held time.Duration }{
		"Seconds":       {17 * second, 17 * second},
		"LessThanTheir": {time.Millisecond, time.Millisecond}, // what the service says counts, not our five seconds
		"ADay":          {24 * time.Hour, 24 * time.Hour},
		"AMonth":        {31 * 24 * time.Hour, 31 * 24 * time.Hour},
		"AYear":         {365 * 24 * time.Hour, 32 * 24 * time.Hour}, // longer than any plan
		"Overflow":      {math.MaxInt64, 32 * 24 * time.Hour},
		"None":          {0, 5 * second},
		"Negative":      {-second, 5 * second},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.throttle(tt.hint)
			w.held(tt.held)
			w.later(tt.held - 1)
			w.held(1)
			w.later(1)
			w.start("a")
		})
	}
}

// Without a hint a hold is five seconds, doubling to sixty while throttles go on.
func TestHold_Doubles(t *testing.T) {
	w := newWorld(t)
	for _, want := range []time.Duration{5, 10, 20, 40, 60, 60, 60} {
		w.throttle(0)
		w.held(want * second)
		w.later(want * second)
	}
	w.succeeded(w.start("a"))
	w.throttle(0)
	w.held(5 * second)
}

func TestHold_DoublesAsSet(t *testing.T) {
	for name, tt := range map[string]struct {
		hold, limit time.Duration
		want        []time.Duration
	}{
		"Both":             {second, 3 * second, []time.Duration{second, 2 * second, 3 * second, 3 * second}},
		"LimitIsNot":       {50 * second, 0, []time.Duration{50 * second, 60 * second, 60 * second}},
		"HoldIsNot":        {0, 7 * second, []time.Duration{5 * second, 7 * second}},
		"LimitBelowHold":   {10 * second, second, []time.Duration{10 * second, 10 * second}},
		"HoldAboveDefault": {2 * minute, 0, []time.Duration{2 * minute, 2 * minute}},
		"Negative":         {-1, -1, []time.Duration{5 * second, 10 * second}},
		"Overflow":         {20 * 24 * time.Hour, math.MaxInt64, []time.Duration{20 * 24 * time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.set = gate.Settings{Hold: tt.hold, MaxHold: tt.limit}
			for _, want := range tt.want {
				w.throttle(0)
				w.held(want)
				w.later(want)
			}
		})
	}
}

// Twenty calls that were under way when the hold was set tell nothing new: their throttles neither double the hold
// nor make it longer, not even those that come after it has ended.
func TestHold_StaleThrottlesDoNotDouble(t *testing.T) {
	w := newWorld(t)
	var under []gate.Ticket
	for range 20 {
		under = append(under, w.start("under way"))
	}
	w.throttle(0)
	for _, ticket := range under[:18] {
		w.later(100 * time.Millisecond)
		w.throttled(ticket, 0)
	}
	w.held(3200 * time.Millisecond)
	w.later(3200 * time.Millisecond)

	// These two are slow to hear of it. They do hold the others up, but not for longer than the first time.
	w.throttled(under[18], 0)
	w.held(5 * second)
	w.later(5 * second)
	w.throttled(under[19], 0)
	w.held(5 * second)
	w.later(5 * second)

	w.throttle(0) // this one has started since
	w.held(10 * second)
}

func TestHold_LaterHintExtends(t *testing.T) {
	w := newWorld(t)
	a, b, c, d := w.start("a"), w.start("b"), w.start("c"), w.start("d")
	w.later(second)
	w.throttled(a, 20*second)
	w.held(20 * second)
	w.later(second)
	w.throttled(b, 30*second)
	w.held(30 * second)
	w.throttled(c, 10*second) // an earlier one does not shorten
	w.held(30 * second)
	w.throttled(d, 0) // nor does none
	w.held(30 * second)
}

// A hint after throttles without one does not forget them, and is not doubled by them.
func TestHold_HintsAndRow(t *testing.T) {
	w := newWorld(t)
	w.throttle(0)
	w.later(5 * second)
	w.throttle(3 * second)
	w.held(3 * second)
	w.later(3 * second)
	w.throttle(0)
	w.held(10 * second)
}

// The row of throttles is forgotten two minutes after the last hold: a throttle of tomorrow starts a new row.
func TestHold_RowIsForgotten(t *testing.T) {
	for name, tt := range map[string]struct{ pause, want time.Duration }{
		"SoonAfter": {time.Minute, 20 * second},
		"LongAfter": {5*second + 2*minute + 1, 5 * second},
		"Tomorrow":  {24 * time.Hour, 5 * second},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.throttle(0)
			w.later(5 * second)
			w.throttle(0)
			w.later(10*second + tt.pause)
			w.throttle(0)
			w.held(tt.want)
		})
	}
}

// A success of a call that started after the hold was set ends a wrong hold; one that started before proves nothing.
// Such a call is let through where the gate was not asked in time: by another machine, or a state that was unreadable.
func TestHold_WrongHold(t *testing.T) {
	for name, tt := range map[string]struct {
		started, since time.Duration
		ends           bool
	}{
		"StartedBefore":      {1 * second, 2 * second, false},
		"StartedAtTheMoment": {2 * second, 2 * second, false},
		"StartedAfter":       {3 * second, 2 * second, true},
	} {
		for _, event := range []string{"Answered", "Succeeded"} {
			t.Run(name+"/"+event, func(t *testing.T) {
				w := newWorld(t)
				w.state.Hold = gate.Hold{Since: t0.Add(tt.since), Until: t0.Add(time.Hour), Reason: "x", Throttles: 2}
				w.later(10 * second)
				ticket := gate.Ticket{Holder: "a", Started: t0.Add(tt.started)}
				if event == "Answered" {
					w.answered(&ticket)
				} else {
					w.succeeded(ticket)
				}
				if !tt.ends {
					w.held(time.Hour - 10*second)
					equal(t, "throttles", w.state.Hold.Throttles, 2)
					return
				}
				w.start("b")
				if event == "Succeeded" {
					equal(t, "throttles", w.state.Hold.Throttles, 0)
				}
			})
		}
	}
}

// What a person has set, no success ends, and no throttle makes shorter.
func TestHold_Manual(t *testing.T) {
	w := newWorld(t)
	under := w.start("under way")
	w.later(second)
	w.state = w.state.Held(w.now, w.now.Add(time.Hour), "maintenance")
	equal(t, "reason", w.refused("hold").Reason, "maintenance")
	late := gate.Ticket{Holder: "late", Started: w.now.Add(second)} // it was let through somehow
	w.later(2 * second)
	w.answered(&late)
	w.succeeded(late)
	w.succeeded(under)
	w.held(time.Hour - 2*second)
	w.throttled(gate.Ticket{Holder: "x", Started: w.now}, 0)
	w.throttled(gate.Ticket{Holder: "y", Started: w.now}, minute)
	w.held(time.Hour - 2*second)

	// A longer hint extends it; it stays manual and can still be lifted.
	w.throttled(gate.Ticket{Holder: "z", Started: w.now}, 2*time.Hour)
	w.held(2 * time.Hour)
	equal(t, "manual", w.state.Hold.Manual, true)

	// A person can make it shorter, longer than any hint, and lift it.
	w.state = w.state.Held(w.now, w.now.Add(second), "almost done")
	w.held(second)
	w.state = w.state.Held(w.now, w.now.Add(60*24*time.Hour), "summer")
	w.held(60 * 24 * time.Hour)
	w.state = w.state.Reset(w.now)
	w.healthy(true)

	// Afterwards a throttle is a hold like any other.
	w.state = w.state.Held(w.now, w.now.Add(second), "x")
	w.later(second)
	w.throttle(0)
	equal(t, "manual", w.state.Hold.Manual, false)
}

func TestHold_ReasonIsBoundedAndValid(t *testing.T) {
	for name, reason := range map[string]string{
		"Long":    strings.Repeat("x", 100_000),
		"Runes":   strings.Repeat("é", 300),
		"Invalid": "a\xffb",
		"Cut":     strings.Repeat("x", 199) + "\xff\xff\xff\xff\xff",
	} {
		t.Run(name, func(t *testing.T) {
			thr := gate.State{}.Throttled(gate.Settings{}, t0, gate.Ticket{Started: t0}, 0, reason)
			held := gate.State{}.Held(t0, t0.Add(minute), reason)
			for _, got := range []string{thr.Hold.Reason, held.Hold.Reason} {
				if len(got) > 210 || len(got) == 0 || !utf8.ValidString(got) {
					t.Errorf("%d bytes, valid: %v", len(got), utf8.ValidString(got))
				}
			}
		})
	}
}
