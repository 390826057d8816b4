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

// Five calls in a row that fail open the breaker, for all that share the store.
func ExampleMemory() {
	var store gate.Memory
	calls := &gate.Gate{Store: &store, Key: "api.example.com"}
	for i := range 5 {
		pass, _ := calls.Enter(fmt.Sprint("call ", i))
		pass.Failed("connection refused")
	}
	_, refusal := calls.Enter("call 6")
	fmt.Println(refusal.Kind, refusal.Reason)
	// Output: breaker connection refused
}

// Slots bound how many run at the same time. A process that ends frees its own.
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
