package breaker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/belay-run/belay/breaker"
)

func ExampleDo() {
	var b breaker.Breaker
	fetch := func(context.Context) (string, error) { return "", errors.New("connection refused") }

	for range 6 {
		_, err := breaker.Do(context.Background(), &b, fetch)
		if refusal, ok := errors.AsType[*breaker.OpenError](err); ok {
			fmt.Println("not called, next try in a minute or so:", time.Until(refusal.Until) > 59*time.Second)
			continue
		}
		fmt.Println(err)
	}
	fmt.Println(b.Phase())
	// Output:
	// connection refused
	// connection refused
	// connection refused
	// connection refused
	// connection refused
	// not called, next try in a minute or so: true
	// open
}

// A refusal says which breaker it was, from when on a call makes sense again, and what failed last.
func ExampleOpenError() {
	b := &breaker.Breaker{Name: "billing", Settings: breaker.Settings{Failures: 1}}
	_, _ = breaker.Do(context.Background(), b, fail)

	_, err := breaker.Do(context.Background(), b, succeed)
	refusal, ok := errors.AsType[*breaker.OpenError](err)
	fmt.Println(ok, errors.Is(err, breaker.ErrOpen))
	fmt.Println(refusal.Name, refusal.Phase, time.Until(refusal.Until) > 59*time.Second, refusal.Cause)
	// Output:
	// true true
	// billing open true connection refused
}

// A call that is not one function: a stream is judged by its first event, not by its end.
func ExampleBreaker_Allow() {
	var b breaker.Breaker
	read := func(events ...string) error {
		call, err := b.Allow()
		if err != nil {
			return err
		}
		defer call.Release() // does nothing after Success or Failure
		if len(events) == 0 {
			err := errors.New("the stream ended before it began")
			call.Failure(err)
			return err
		}
		call.Success()
		return nil
	}
	fmt.Println(read(), b.State().Failures)
	fmt.Println(read("hello", "world"), b.State().Failures)
	// Output:
	// the stream ended before it began 1
	// <nil> 0
}

// A listener may warn before the breaker opens, and may use the breaker.
func ExampleBreaker_onChange() {
	var b *breaker.Breaker
	b = &breaker.Breaker{
		Settings: breaker.Settings{Failures: 4},
		OnChange: func(from, to breaker.State) {
			switch {
			case from.Phase != to.Phase:
				fmt.Printf("%v → %v: %s\n", from.Phase, to.Phase, b.State().Reason)
			case to.Failures >= 3:
				fmt.Printf("%d failures in a row: %s\n", to.Failures, to.Reason)
			}
		},
	}
	for range 4 {
		_, _ = breaker.Do(context.Background(), b, fail)
	}
	// Output:
	// 3 failures in a row: connection refused
	// closed → open: connection refused
}

func ExampleBreaker_ForceOpen() {
	var b breaker.Breaker
	b.ForceOpen(0, "database upgrade")
	_, err := breaker.Do(context.Background(), &b, succeed)
	fmt.Println(err)
	b.Reset()
	fmt.Println(breaker.Do(context.Background(), &b, succeed))
	// Output:
	// circuit breaker opened by hand until reset: database upgrade
	// 1 <nil>
}

// A State can be kept anywhere. Here it goes through JSON between two processes, and no clock is read.
func ExampleState() {
	settings := breaker.Settings{Failures: 1, Successes: 1}
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

	var one breaker.State // absent is healthy
	one, ticket, _ := one.Ask(settings, now, "process 1")
	one = one.Failure(settings, now, ticket, 0.5, "connection refused")
	file, _ := json.Marshal(one)
	fmt.Println(string(file))

	var other breaker.State
	_ = json.Unmarshal(file, &other)
	_, _, err := other.Ask(settings, now, "process 2")
	fmt.Println(err)

	now = other.Until
	other, ticket, _ = other.Ask(settings, now, "process 2")
	fmt.Println(other.Phase, other.Probe.Holder)
	other = other.Success(settings, now, ticket)
	fmt.Println(other.Phase, other.Healthy())
	// Output:
	// {"generation":1,"phase":"open","opens":1,"reason":"connection refused","since":"2026-11-15T12:00:00Z","until":"2026-11-15T12:01:07.5Z"}
	// circuit breaker open until 2026-11-15T12:01:07Z: connection refused
	// half_open process 2
	// closed true
}
