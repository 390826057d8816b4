package retry_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/retry"
)

func ExampleDo() {
	attempt := 0
	fetch := func(context.Context) (string, error) {
		attempt++
		if attempt < 3 {
			return "", fmt.Errorf("attempt %d: %w", attempt, syscall.ECONNRESET)
		}
		return "the answer", nil
	}

	answer, err := retry.Do(context.Background(), retry.Policy{BaseDelay: time.Millisecond}, fetch)
	fmt.Println(answer, err, attempt)
	// Output: the answer <nil> 3
}

// Every way a call can end comes out as one error type.
func ExampleDo_outcomes() {
	errBusy, errKey := errors.New("server busy"), errors.New("invalid API key")
	policy := retry.Policy{
		MaxRetries: 2,
		BaseDelay:  time.Millisecond,
		Classify: func(err error) retry.Advice {
			return retry.Advice{Retry: errors.Is(err, errBusy)}
		},
	}
	call := func(result error) {
		_, err := retry.Do(context.Background(), policy, func(context.Context) (struct{}, error) {
			return struct{}{}, result
		})
		stop, _ := errors.AsType[*retry.Error](err)
		switch {
		case err == nil:
			fmt.Println("done")
		case errors.Is(err, retry.ErrPermanent):
			fmt.Println("give up:", stop.Err)
		case errors.Is(err, retry.ErrExhausted):
			fmt.Println("try later:", stop.Err, "in all of", stop.Attempts, "attempts")
		}
	}
	call(nil)
	call(errKey)
	call(errBusy)
	// Output:
	// done
	// give up: invalid API key
	// try later: server busy in all of 3 attempts
}

// With a circuit breaker in front, a service that is down is left alone: after two calls that have failed with all their
// retries, the third is not attempted. A wrong key says nothing of the service.
func ExampleThrough() {
	errKey := errors.New("invalid API key")
	b := &breaker.Breaker{Name: "api", Settings: breaker.Settings{Failures: 2}}
	policy := retry.Policy{MaxRetries: 3, BaseDelay: time.Millisecond}
	call := func(result error) {
		attempts := 0
		_, err := retry.Through(context.Background(), b, policy, func(context.Context) (string, error) {
			attempts++
			return "", result
		})
		if refusal, ok := errors.AsType[*breaker.OpenError](err); ok {
			fmt.Printf("attempts: %d; %s is down, come back in a minute: %t\n", attempts, refusal.Name, time.Until(refusal.Until) > 59*time.Second)
			return
		}
		fmt.Printf("attempts: %d; breaker %v\n", attempts, b.Phase())
	}
	call(errKey)
	call(syscall.ECONNREFUSED)
	call(syscall.ECONNREFUSED)
	call(syscall.ECONNREFUSED)
	// Output:
	// attempts: 1; breaker closed
	// attempts: 4; breaker closed
	// attempts: 4; breaker open
	// attempts: 0; api is down, come back in a minute: true
}

// apiError is how many clients of HTTP APIs report an answer that is an error.
type apiError struct {
	StatusCode int
	RetryAfter time.Duration
}

func (e *apiError) Error() string { return fmt.Sprint("status ", e.StatusCode) }

// An error that carries an HTTP status is understood without further ado: limits and failures of the server pass, what is
// wrong with the request does not.
func ExampleNetwork_status() {
	for _, err := range []error{
		&apiError{StatusCode: 429, RetryAfter: 20 * time.Second},
		fmt.Errorf("list models: %w", &apiError{StatusCode: 529}),
		&apiError{StatusCode: 401},
	} {
		advice := retry.Network(err)
		fmt.Println(err, advice.Retry, advice.Throttled, advice.After)
	}
	// Output:
	// status 429 true true 20s
	// list models: status 529 true false 0s
	// status 401 false false 0s
}

// What an error says in words is not read: one without a status is permanent, unless Classify knows it.
func ExamplePolicy_classify() {
	errNotReady := errors.New("HTTP 503: not ready")
	calls := func(p retry.Policy) (n int) {
		p.MaxRetries, p.BaseDelay = 2, time.Millisecond
		retry.Do(context.Background(), p, func(context.Context) (int, error) {
			n++
			return 0, errNotReady
		})
		return n
	}
	fmt.Println(calls(retry.Policy{}))
	fmt.Println(calls(retry.Policy{Classify: func(err error) retry.Advice {
		if errors.Is(err, errNotReady) {
			return retry.Advice{Retry: true}
		}
		return retry.Network(err) // what is repeated without a Classify
	}}))
	// Output:
	// 1
	// 3
}

// A server's Retry-After is respected. If that is later than the policy may wait, the call ends now.
func ExampleDo_hint() {
	reset := time.Date(2100, 1, 1, 15, 0, 0, 0, time.UTC)
	policy := retry.Policy{
		Classify: func(error) retry.Advice {
			return retry.Advice{Retry: true, Throttled: true, NotBefore: reset}
		},
	}
	_, err := retry.Do(context.Background(), policy, func(context.Context) (int, error) {
		return 0, errors.New("usage limit reached")
	})
	fmt.Println(err)
	// Output: max wait would be exceeded after 1 attempt, not before 2100-01-01T15:00:00Z: usage limit reached
}

// Delay replaces the exponential backoff, here by a linear one.
func ExamplePolicy_delay() {
	base := time.Millisecond
	policy := retry.Policy{
		Delay:   func(n int, _ error) time.Duration { return base * time.Duration(n+1) },
		OnRetry: func(r retry.Retry) { fmt.Printf("attempt %d: %v, next in %v\n", r.Attempt, r.Err, r.Wait) },
	}
	_, err := retry.Do(context.Background(), policy, func(context.Context) (int, error) {
		return 0, syscall.ECONNREFUSED
	})
	fmt.Println(err)
	// Output:
	// attempt 1: connection refused, next in 1ms
	// attempt 2: connection refused, next in 2ms
	// attempt 3: connection refused, next in 3ms
	// retries used up after 4 attempts and 6ms of waiting: connection refused
}

func ExamplePreset() {
	policy, _ := retry.Preset("sdk")
	for n := range policy.MaxRetries {
		fmt.Println(policy.Backoff(n), policy.Jitter)
	}
	// Output:
	// 2s additive:0.25
	// 4s additive:0.25
	// 8s additive:0.25
}

// A loop of one's own asks a Series what to do after each failure.
func ExampleSeries() {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	policy := retry.Policy{MaxRetries: 2, Jitter: retry.NoJitter}
	series := policy.Start(now)
	for {
		wait, err := series.Next(now, errors.New("overloaded"), retry.Advice{Retry: true})
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println("wait", wait)
		now = now.Add(wait)
	}
	// Output:
	// wait 1s
	// wait 2s
	// retries used up after 3 attempts and 3s of waiting: overloaded
}

func ExampleParseJitter() {
	for _, s := range []string{"full", "plus:1", "proportional:2"} {
		j, err := retry.ParseJitter(s)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(j, j.Apply(8*time.Second, 0.5))
	}
	// Output:
	// full 4s
	// plus:1s 8.5s
	// jitter "proportional:2": the fraction is not between 0 and 1
}
