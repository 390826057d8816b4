package engine_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// names are the events in a word each.
func names(list []belaytype.Event) (words []string) {
	for _, e := range list {
		switch e := e.(type) {
		case belaytype.AgentEvent:
			words = append(words, "line")
		case belaytype.AttemptStarted:
			words = append(words, "started")
		case belaytype.AttemptFailed:
			words = append(words, "failed")
		case belaytype.Waiting:
			words = append(words, "waiting")
		case belaytype.WaitOver:
			words = append(words, "over")
		case belaytype.Missed:
			words = append(words, "missed "+strings.Repeat("x", min(e.Lines, 3)))
		default:
			words = append(words, "?")
		}
	}
	return words
}

// twoAttempts is an agent whose first attempt fails.
func twoAttempts() *engine.Runner {
	r := agentRunner(agent.Info{})
	script(r, steps(0, enginetest.Line(enginetest.Event{Session: oneSession}), enginetest.Wait(time.Second), enginetest.Line(enginetest.Event{Class: verdict.Overloaded})),
		steps(0, enginetest.Wait(time.Second), enginetest.Line(enginetest.Event{Text: "done", Class: verdict.OK})))
	return r
}

var wholeStory = []string{"started", "line", "line", "failed", "waiting", "over", "started", "line"}

// The first reader after Start gets everything, however late it comes; others get what happens from then on.
func TestStream_Readers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := twoAttempts()
		inv := start(t, r, claude)
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		var first, second []belaytype.Event
		var readers sync.WaitGroup
		early, late := inv.Events(), inv.Events()
		readers.Go(func() {
			for e := range early {
				first = append(first, e)
			}
		})
		readers.Go(func() {
			for e := range late {
				second = append(second, e)
			}
		})
		readers.Wait()
		inv.Wait()
		equalLists(t, "first", names(first), wholeStory)
		equalLists(t, "second", names(second), wholeStory[2:])
		for range inv.Events() {
			t.Error("there is an event after the end")
		}
	})
}

func TestStream_ReadAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inv := start(t, twoAttempts(), claude)
		inv.Wait()
		var got []belaytype.Event
		for e := range inv.Events() {
			got = append(got, e)
		}
		equalLists(t, "events", names(got), wholeStory)
	})
}

// A reader that never reads, or leaves early, holds nothing up.
func TestStream_ReadersThatDoNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inv := start(t, twoAttempts(), claude)
		inv.Events() // never read
		left := inv.Events()
		for range left {
			break
		}
		if res, err := inv.Wait(); err != nil || res.Duration > 10*time.Second {
			t.Errorf("after %v: %v", res.Duration, err)
		}
	})
}

// Without Start nothing is kept for readers that come late.
func TestStream_OfAPreparedInvocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inv, err := twoAttempts().Prepare(t.Context(), claude)
		must.OK(t, err)
		events := inv.Events()
		inv.Run()
		var got []belaytype.Event
		for e := range events {
			got = append(got, e)
		}
		equalLists(t, "events", names(got), wholeStory)
	})
}

// A reader that does not keep up misses lines, the oldest first, and is told how many; never anything else.
func TestStream_Missed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{})
		line := enginetest.Print(strings.Repeat("x", 1<<19) + "\n") // half a MiB
		var list []enginetest.Step
		for range 40 {
			list = append(list, line)
		}
		script(r, steps(0, list...))
		inv := start(t, r, claude)
		inv.Wait()
		lines, missed := 0, 0
		var first belaytype.Event
		for e := range inv.Events() {
			if first == nil {
				first = e
			}
			switch e := e.(type) {
			case belaytype.AgentEvent:
				lines++
			case belaytype.Missed:
				missed += e.Lines
			}
		}
		if lines+missed != 40 || lines != 32 {
			t.Errorf("%d lines and %d missed", lines, missed)
		}
		if _, ok := first.(belaytype.Missed); !ok {
			t.Errorf("first is %T", first)
		}
	})
}

// Observe is called by one goroutine at a time. The race detector watches.
func TestStream_ObservesOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{})
		var inside atomic.Int32
		told := 0 // guarded by nothing but that
		r.Observe = func(belaytype.Event) {
			if inside.Add(1) != 1 {
				t.Error("two at a time")
			}
			told++
			time.Sleep(time.Millisecond)
			inside.Add(-1)
		}
		var list []enginetest.Step
		for range 20 {
			list = append(list, enginetest.Line(enginetest.Event{Retry: verdict.RateLimit, Wait: 100 * time.Millisecond}), enginetest.Wait(100*time.Millisecond))
		}
		script(r, steps(0, append(list, enginetest.Hang())...))
		inv := start(t, r, claude)
		time.Sleep(time.Second)
		inv.Cancel(sigterm)
		if res, _ := inv.Wait(); res.ExitCode != 143 || told < 5 {
			t.Errorf("exit code %d, told of %d", res.ExitCode, told)
		}
	})
}

// A reader that has left and comes back finds the end; it does not wait for ever.
func TestStream_ReaderComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inv := start(t, twoAttempts(), claude)
		events := inv.Events()
		for range events {
			break
		}
		for range events {
		}
		inv.Wait()
		for range events {
		}
	})
}

// What a failed attempt has said can be shown by a reader that comes to it later.
func TestStream_StderrOfAFailedAttempt(t *testing.T) {
	for name, r := range map[string]*engine.Runner{"of a plain command": {Policy: retry.Policy{MaxRetries: 1}}, "of an agent": agentRunner(agent.Info{})} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script(r, steps(1, enginetest.Complain("no luck\n"), enginetest.Line(enginetest.Event{Class: verdict.Overloaded})), steps(0))
				inv := start(t, r, claude)
				inv.Wait()
				said := ""
				for e := range inv.Events() {
					if failed, ok := e.(belaytype.AttemptFailed); ok {
						said = failed.Stderr.String()
					}
				}
				equal(t, "stderr", said, "no luck\n")
			})
		})
	}
}
