package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/verdict"
)

// What an agent does is told when it changes, and what it uses when a model call has ended, and twice a second at most; what a tool was given has no secrets in it.
func TestRunner_Follow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{})
		begun := time.Now()
		var got []string
		r.Follow = func(a engine.Activity) {
			text := fmt.Sprintf("%d %s|%s|%d", a.Doing, a.Tool, a.Argument(), a.Used.InputTokens)
			if a.Retrying {
				text += fmt.Sprintf(" retrying at %v", a.Until.Sub(begun))
			}
			if a.Delivered {
				text += " delivered"
			}
			got = append(got, text)
		}
		used := func(tokens int64) enginetest.Event {
			return enginetest.Event{Account: enginetest.Account(agent.Account{Session: oneSession, Usage: verdict.Usage{InputTokens: tokens}})}
		}
		ended := func(tokens int64) enginetest.Event {
			e := used(tokens)
			e.Turn = &verdict.Usage{InputTokens: 10}
			return e
		}
		pause := enginetest.Wait(100 * time.Millisecond)
		script(r, steps(0,
			enginetest.Line(used(10)), enginetest.Line(used(20)), enginetest.Line(used(30)), // at once, and then not again
			pause, enginetest.Line(enginetest.Event{Tools: 1, Use: enginetest.Use{Tool: "Bash", Argument: "curl -H 'Authorization: Bearer abcdefgh12345678' x"}}),
			pause, enginetest.Line(enginetest.Event{}),
			pause, enginetest.Line(enginetest.Event{Retry: verdict.Overloaded, Wait: 700 * time.Millisecond}),
			pause, enginetest.Line(enginetest.Event{}), // it has tried
			pause, enginetest.Line(enginetest.Event{}), // nothing new
			enginetest.Line(ended(40)),
			pause, enginetest.Line(enginetest.Event{Done: true}),
		))
		if _, err := r.Run(t.Context(), claude); err != nil {
			t.Fatal(err)
		}
		equalLists(t, "activity", got, []string{"0 ||10", "2 Bash|curl -H 'Authorization: [redacted]' x|30", "0 ||30", "0 ||30 retrying at 1s", "0 ||30", "0 ||40", "0 ||40 delivered"})
	})
}
