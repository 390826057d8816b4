package gate_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
)

// ramp is a world in which a hold has just ended.
func ramp(t *testing.T) *world {
	w := newWorld(t)
	w.throttle(minute)
	w.later(minute)
	return w
}

// starts lets in as many as may, and says how many that were.
func (w *world) starts(prefix string) []gate.Ticket {
	var list []gate.Ticket
	for {
		next, ticket, refusal := w.state.Ask(w.set, w.now, fmt.Sprint(prefix, len(list)))
		if refusal != nil || len(list) > 3000 {
			return list
		}
		w.state = next
		list = append(list, ticket)
	}
}

// One start that has not been answered at a time, one more for each first answer.
func TestRamp(t *testing.T) {
	w := ramp(t)
	a := w.start("a")
	equal(t, "awaited", a.Awaited, true)
	w.refused("slow start")
	w.answered(&a)
	b := w.start("b")
	w.start("c")
	w.refused("slow start")

	// A second answer and the end of an answered call change nothing.
	w.answered(&a)
	w.succeeded(a)
	w.refused("slow start")

	w.succeeded(b) // an end is also an answer
	if got := len(w.starts("d")); got != 2 {
		t.Errorf("%d more were let in, want 2", got)
	}
}

// A call that ends without an answer makes room for one other, not for two.
func TestRamp_EndsWithoutAnAnswer(t *testing.T) {
	for name, end := range map[string]func(*world, gate.Ticket){
		"Failed":   func(w *world, ticket gate.Ticket) { w.failed(ticket) },
		"Released": func(w *world, ticket gate.Ticket) { w.state = w.state.Released(ticket) },
	} {
		t.Run(name, func(t *testing.T) {
			w := ramp(t)
			end(w, w.start("a"))
			if got := len(w.starts("b")); got != 1 {
				t.Errorf("%d were let in, want 1", got)
			}
		})
	}
}

// A throttle in the slow start holds all calls again, for longer, and the next one begins with one.
func TestRamp_Throttled(t *testing.T) {
	w := newWorld(t)
	w.throttle(0)
	w.later(5 * second)
	a := w.start("a")
	w.answered(&a)
	b, c := w.start("b"), w.start("c")
	w.later(second)
	w.throttled(b, 0)
	w.held(10 * second)
	w.later(second)
	w.throttled(c, 0) // it was under way
	w.held(9 * second)
	w.later(9 * second)
	if got := len(w.starts("d")); got != 1 {
		t.Errorf("%d were let in, want 1", got)
	}
}

// A starter that was killed is forgotten after 30 s; one that is still running renews its start.
func TestRamp_Expiry(t *testing.T) {
	w := ramp(t)
	a := w.start("a")
	w.later(30*second - 1)
	w.refused("slow start")
	w.later(1)
	b := w.start("b")
	for range 5 {
		w.later(20 * second)
		w.state = w.state.Renewed(w.set, w.now, b)
		w.refused("slow start")
	}
	w.state = w.state.Renewed(w.set, w.now, a) // it is late, and no call waits for it any more
	w.later(30 * second)
	w.start("c")

	// What is answered after it has been given up counts if it is still on the list, and else not.
	w.answered(&a)
	w.refused("slow start")
}

func TestRamp_AnswerAsSet(t *testing.T) {
	w := ramp(t)
	w.set.Answer = 3 * second
	w.start("a")
	w.later(3*second - 1)
	w.refused("slow start")
	w.later(1)
	w.start("b")
}

// It ends two minutes after the last start, and not while there are any.
func TestRamp_Ends(t *testing.T) {
	w := ramp(t)
	w.healthy(false)
	for i := range 10 {
		w.later(2*minute - 1)
		equal(t, "awaited", w.start(fmt.Sprint(i)).Awaited, true) // the last one was given up
		w.refused("slow start")
	}
	w.later(2 * minute)
	w.healthy(true)
	if got := len(w.starts("b")); got < 1000 {
		t.Errorf("only %d were let in", got)
	}
}

// A ramp ends when it allows very many starts.
func TestRamp_Wide(t *testing.T) {
	w := ramp(t)
	for range 12 {
		for _, ticket := range w.starts("a") {
			w.succeeded(ticket)
		}
	}
	equal(t, "live", w.state.Ramp.Live(w.now), false)
	w.healthy(true)
	equal(t, "awaited", w.start("b").Awaited, false)
}

// Where a slow start was ended by a throttle after 20 answers, the next one lets 20 in and is then careful: 16 would be
// under way just when the limit is reached, and all but a few of them refused.
func TestRamp_LearnsTheLimit(t *testing.T) {
	w := ramp(t)
	answers := func(n int) (rounds []int) {
		for n > 0 {
			list := w.starts("a")
			rounds = append(rounds, len(list))
			for i, ticket := range list {
				if n == 0 {
					w.throttled(list[i], 30*second)
					break
				}
				w.succeeded(ticket)
				n--
			}
		}
		return rounds
	}
	equal(t, "first", fmt.Sprint(answers(20)), "[1 2 4 8 16]")
	w.held(30 * second)
	w.later(30 * second)
	equal(t, "second", fmt.Sprint(answers(20)), "[1 2 4 8 5]")
	equal(t, "third", fmt.Sprint(answers(4)), "[1 2 4]") // it seems to be more than 20
	w.held(30 * second)
	w.later(30 * second)
	equal(t, "fourth", fmt.Sprint(answers(24)), "[1 2 4 8 9]")

	// A hold that was too short has shown nothing.
	w.throttled(w.start("b"), 10*second)
	w.later(10 * second)
	w.throttled(w.start("c"), 10*second)
	w.later(10 * second)
	equal(t, "fifth", fmt.Sprint(answers(24)), "[1 2 4 8 9]")
}

// A transition returns a new state and leaves the old one alone.
func TestRamp_StatesAreValues(t *testing.T) {
	w := ramp(t)
	a := w.start("a")
	before, text := w.state, show(w.state)
	w.later(second)
	before.Renewed(w.set, w.now, a)
	before.Answered(w.set, w.now, a)
	before.Succeeded(w.set, w.now, a)
	before.Failed(w.set, w.now, a, 0, "x")
	before.Released(a)
	before.Throttled(w.set, w.now, a, 0, "x")
	before.Ask(w.set, w.now.Add(time.Hour), "b")
	before.Reset(w.now)
	before.Spend(w.now)
	equal(t, "state", show(before), text)
}
