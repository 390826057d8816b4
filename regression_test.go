package belay_test

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Runner.Observe promised one thing at a time and was called from three goroutines at once: that of the run, the one that
// reads the output, and the one that a cancelled context starts. A claude that kept retrying and was cancelled raced with
// itself in the observer.
func TestRegression_ObserveIsCalledOnceAtATime(t *testing.T) {
	t.Parallel()
	claude := scripted(t, "trap 'exit 143' TERM INT\n"+begins+"while :; do\n"+retries+"done\n")
	claude.Runner.Policy = retry.Policy{MaxRetries: 1 << 30, BaseDelay: time.Millisecond, Jitter: retry.NoJitter, MaxWait: retry.None}
	ctx, cancel := context.WithCancel(t.Context())
	var events []belay.Event // without a lock: the race detector must see it
	var busy atomic.Bool
	inner, entered := 0, make(chan struct{}, 1)
	claude.Runner.Observe = func(e belay.Event) {
		if !busy.CompareAndSwap(false, true) {
			t.Error("it was called while it was being called")
			select {
			case entered <- struct{}{}:
			default:
			}
			return
		}
		defer busy.Store(false)
		if events = append(events, e); len(events) > 50 {
			cancel()
		}
		switch e.(type) {
		case belay.InnerRetry:
			inner++
		case belay.Stopping: // meanwhile claude goes on printing
			select {
			case <-entered:
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
	res, err := claude.Run(ctx)
	if !errors.Is(err, context.Canceled) || res.Verdict.Class != verdict.Interrupted {
		t.Errorf("%v, %+v", err, res.Verdict)
	}
	stopped := slices.ContainsFunc(events, func(e belay.Event) bool { _, ok := e.(belay.Stopping); return ok })
	if inner < 40 || !stopped {
		t.Errorf("%d retries were seen, stopping %v", inner, stopped)
	}
}

// For an agent without MaxRetries the preset replaced the whole policy, the delays that the caller had set included.
func TestRegression_ThePolicyIsMergedFieldByField(t *testing.T) {
	t.Parallel()
	own := retry.Policy{BaseDelay: 17 * time.Second, MaxDelay: 18 * time.Second, Factor: 3, Jitter: retry.NoJitter, MaxWait: 19 * time.Second,
		Timeout: 20 * time.Second, TotalTimeout: 21 * time.Second, RetryTimeouts: 2,
		Delay: func(int, error) time.Duration { return 22 * time.Second }, Classify: func(error) retry.Advice { return retry.Advice{} },
		OnRetry: func(retry.Retry) {}, OnGiveUp: func(error) {}, Rand: func() float64 { return 0.25 }}
	given := reflect.ValueOf(own)
	for _, command := range []belay.Command{{Args: []string{"claude", "-p", "x"}}, {Args: []string{"codex", "exec", "x"}}, {Args: []string{"gh", "api", "user"}}} {
		name := command.Args[0]
		preset, _ := retry.Preset(name)
		for i := range given.NumField() {
			field := given.Type().Field(i).Name
			if field == "MaxRetries" || field == "CountThrottles" {
				continue // these are what asks for the preset
			}
			r := belay.Runner{Profile: name}
			reflect.ValueOf(&r.Policy).Elem().Field(i).Set(given.Field(i))
			p, err := r.Preview(command)
			must.OK(t, err)
			got := reflect.ValueOf(p.Policy).Field(i)
			if got.Kind() == reflect.Func && got.IsNil() || got.Kind() != reflect.Func && !got.Equal(given.Field(i)) {
				t.Errorf("%s: %s has become %v", name, field, got)
			}
			if p.Policy.MaxRetries != preset.MaxRetries || field != "MaxDelay" && p.Policy.MaxDelay != preset.MaxDelay {
				t.Errorf("%s: with %s set, the preset is not in force: %+v", name, field, p.Policy)
			}
		}
	}
}

// A rule of the caller's that happened to be named gate turned retries off, because refusals of the gate were told by that.
func TestRegression_ARuleMayBeNamedGate(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"gate", "gatex"} {
		r := belay.Runner{Policy: retry.Policy{MaxRetries: 2, BaseDelay: time.Millisecond},
			Judge: func(own verdict.Verdict, o verdict.Outcome, now time.Time) verdict.Verdict {
				return verdict.Verdict{Class: verdict.ServerError, Retryable: true, Rule: rule}
			}}
		res, err := r.Run(t.Context(), sh("exit 1"))
		if !errors.Is(err, retry.ErrExhausted) || res.Attempts != 3 || res.Verdict.Rule != rule {
			t.Errorf("%s: %v after %d attempts", rule, err, res.Attempts)
		}
	}
}

// A profile was made with a command line of its own, and Command.Args were ignored where they were others.
func TestRegression_TheProfileIsBoundToItsCommand(t *testing.T) {
	t.Parallel()
	r := belay.Runner{Profile: "claude"}
	for _, prompt := range []string{"first", "second"} {
		p, err := r.Preview(belay.Command{Args: []string{"claude", "-p", prompt}})
		if err != nil || p.Args[0] != "claude" || !slices.Contains(p.Args, prompt) || !slices.Contains(p.Args, "stream-json") {
			t.Errorf("%q, %v", p.Args, err)
		}
	}
	// Also where another program starts it, and its environment is the command's.
	p, err := r.Preview(belay.Command{Args: []string{"node", "--no-warnings", "cli.js", "-p", "third"}})
	if err != nil || !slices.Equal(p.Args[:3], []string{"node", "--no-warnings", "cli.js"}) || !slices.Contains(p.Args, "third") || !slices.Contains(p.Args, "stream-json") {
		t.Errorf("%q, %v", p.Args, err)
	}
	here, err1 := r.Preview(belay.Command{Args: []string{"claude", "-p", "x"}, Env: []string{"ANTHROPIC_API_KEY=one"}})
	there, err2 := r.Preview(belay.Command{Args: []string{"claude", "-p", "x"}, Env: []string{"ANTHROPIC_API_KEY=two"}})
	if err := errors.Join(err1, err2); err != nil || here.Gate == there.Gate {
		t.Errorf("two accounts share the gate %s: %v", here.Gate, err)
	}
}

// Start stalled until the events were read: the queue held 16 lines, and a program that only asked Over waited for ever.
func TestRegression_StartDoesNotWaitForAReader(t *testing.T) {
	t.Parallel()
	const lines = 5000
	claude := scripted(t, begins+"i=0\nwhile [ $i -lt 5000 ]; do i=$((i+1))\n"+answers+"done\n"+succeeds)
	inv, err := claude.Start(t.Context())
	must.OK(t, err)
	for tick := time.Tick(10 * time.Millisecond); !inv.Over(); {
		select {
		case <-tick:
		case <-t.Context().Done():
			t.Fatal("it does not end")
		}
	}
	// The first reader gets all of it, though it comes late; later ones get what comes after their call, which is nothing.
	var read int
	var last []byte
	for e := range inv.Events() {
		if line, ok := e.(belay.AgentEvent); ok {
			read++
			last = line.Line
		}
	}
	if read != lines+2 || !bytes.Contains(last, []byte(`"type":"result"`)) {
		t.Errorf("%d lines were read, the last one %s", read, last)
	}
	for e := range inv.Events() {
		t.Errorf("a second reader got %+v", e)
	}
	if res, err := inv.Wait(); err != nil || res.Output.String() != "It is done." || res.Session != session || !strings.Contains(res.Profile, "claude") {
		t.Errorf("%+v, %v", res, err)
	}
}
