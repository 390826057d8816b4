package gate_test

import (
	"fmt"
	"os"
	"time"

	"github.com/belay-run/belay/gate"
)

// Two processes share what is known of a service: what one of them learns stops the other before its next call.
func Example() {
	dir, err := os.MkdirTemp("", "gates-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	one := &gate.Gate{Store: &gate.Files{Dir: dir}, Key: "api.example.com"}
	pass, _ := one.Enter("call 1")
	// … the call is refused: 429, Retry-After: 3600
	pass.Throttled(time.Hour, "rate_limit")

	two := &gate.Gate{Store: &gate.Files{Dir: dir}, Key: "api.example.com"}
	_, refusal := two.Enter("call 2")
	fmt.Println(refusal.Kind, refusal.Reason, time.Until(refusal.Until).Round(time.Minute))
	// Output: hold rate_limit 1h0m0s
}

// A state is a plain value; a store keeps it, but nothing more is needed to try out what happens.
func ExampleState() {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	var set gate.Settings
	var s gate.State
	for i := range 5 {
		var ticket gate.Ticket
		s, ticket, _ = s.Ask(set, now, fmt.Sprint("call ", i))
		s = s.Failed(set, now, ticket, 0, "connection refused")
	}
	_, _, refusal := s.Ask(set, now, "call 6")
	fmt.Println(refusal.Kind, refusal.Reason, refusal.Until.Sub(now))
	s, probe, _ := s.Ask(set, now.Add(time.Minute), "call 7")
	_, _, refusal = s.Ask(set, now.Add(time.Minute), "call 8")
	fmt.Println(probe.Breaker.Probe, refusal.Kind)
	// Output:
	// breaker connection refused 1m0s
	// true probe
}

// Slots bound how many run at the same time. A process that dies frees its own.
func ExampleSlots() {
	dir, err := os.MkdirTemp("", "slots-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	slots := gate.Slots{Dir: dir}
	first, _ := slots.Take("deploy", 1, "build 17")
	_, err = slots.Take("deploy", 1, "build 18")
	fmt.Println(err, slots.Holders("deploy"))
	first.Free()
	_, err = slots.Take("deploy", 1, "build 18")
	fmt.Println(err, slots.Holders("deploy"))
	// Output:
	// all slots are taken [build 17]
	// <nil> [build 18]
}
