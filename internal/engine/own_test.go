package engine_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// waitsFor is what claude prints of a wait for a limit: how long it takes, and every 30 s what is left.
func waitsFor(class verdict.Class, wait time.Duration) (list []enginetest.Step) {
	for left := wait; left > 0; left -= 30 * time.Second {
		list = append(list, enginetest.Line(enginetest.Event{Retry: class, Wait: left, Hint: left, Repeated: left < wait}), enginetest.Wait(min(left, 30*time.Second)))
	}
	return list
}

// A CLI that its user has told to wait does so, as if --max-wait said it: it is not ended for that, and what it waited is on record once. What the
// caller says of waits and retries comes first.
func TestOwnRetries(t *testing.T) {
	done := enginetest.Line(enginetest.Event{Text: "done", Class: verdict.OK})
	told := agent.OwnRetries{Set: true, MaxWait: -1, Setting: "CLAUDE_WAIT"}
	bounded := agent.OwnRetries{Set: true, MaxWait: 10 * time.Minute, Setting: "CLAUDE_WAIT"}
	often := agent.OwnRetries{Set: true}
	limited := slices.Concat(waitsFor(verdict.UsageLimit, 420*time.Second), []enginetest.Step{done})
	var failing []enginetest.Step
	for range 30 {
		failing = append(failing, enginetest.Line(enginetest.Event{Retry: verdict.ServerError, Wait: 32 * time.Second}), enginetest.Wait(32*time.Second))
	}
	failing = append(failing, done)
	for name, tt := range map[string]struct {
		own    agent.OwnRetries
		policy retry.Policy
		noWait bool
		steps  []enginetest.Step
		class  verdict.Class
		waited time.Duration
		inner  int
		cause  error
		text   string
	}{
		"a limit of seven minutes":             {own: told, steps: limited, class: verdict.OK, waited: 420 * time.Second, inner: 1},
		"a limit of five hours":                {own: told, steps: slices.Concat(waitsFor(verdict.UsageLimit, 5*time.Hour), []enginetest.Step{done}), class: verdict.OK, waited: 5 * time.Hour, inner: 1},
		"several limits":                       {own: told, steps: slices.Concat(waitsFor(verdict.RateLimit, 4*time.Minute), waitsFor(verdict.UsageLimit, 4*time.Minute), limited), class: verdict.OK, waited: 15 * time.Minute, inner: 3},
		"without a word of how long":           {own: told, steps: []enginetest.Step{enginetest.Line(enginetest.Event{Retry: verdict.RateLimit}), enginetest.Wait(time.Hour), done}, class: verdict.OK, waited: time.Hour, inner: 1},
		"more than its own bound, as it likes": {own: bounded, steps: slices.Concat(limited[:len(limited)-1], limited), class: verdict.OK, waited: 14 * time.Minute, inner: 2},
		"retries of its own":                   {own: often, steps: failing, class: verdict.OK, waited: 16 * time.Minute, inner: 30},
		"it was not told":                      {steps: limited, class: verdict.UsageLimit, cause: retry.ErrMaxWait, text: "the longest wait allowed is 5m"},
		"the caller sets another wait":         {own: told, policy: retry.Policy{MaxWait: time.Minute}, steps: limited, class: verdict.UsageLimit, cause: retry.ErrMaxWait, text: "the longest wait allowed is 1m"},
		"the caller does not wait":             {own: told, noWait: true, steps: limited, class: verdict.UsageLimit, cause: retry.ErrMaxWait},
		"the caller bounds all":                {own: told, policy: retry.Policy{TotalTimeout: 6 * time.Minute}, steps: limited, class: verdict.UsageLimit, cause: retry.ErrTotalTimeout},
		"the caller counts retries":            {own: told, policy: retry.Policy{MaxRetries: 2, CountThrottles: true}, steps: failing, class: verdict.ServerError, waited: 64 * time.Second, inner: 2, cause: retry.ErrExhausted},
		"the caller wants no retry":            {own: often, policy: retry.Policy{MaxRetries: retry.None}, steps: failing, class: verdict.ServerError, cause: retry.ErrExhausted},
		"the caller bounds waits of retries":   {own: often, policy: retry.Policy{MaxWait: 3 * time.Minute}, steps: failing, class: verdict.ServerError, waited: 160 * time.Second, inner: 5, cause: retry.ErrMaxWait},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(agent.Info{Own: tt.own, Stall: 5 * time.Minute})
				r.Policy, r.NoWait = tt.policy, tt.noWait
				if tt.noWait {
					r.Policy.MaxWait = 1 // as --no-wait has it
				}
				r.State, r.LogDir = runner(t, retry.Policy{}).State, engine.NoLogDir
				if name == "without a word of how long" {
					r.Stall = -1
				}
				script(r, enginetest.Attempt{Code: map[bool]int{false: 1}[tt.class == verdict.OK], Steps: tt.steps})
				res, err := r.Run(t.Context(), claude)
				if res.Verdict.Class != tt.class || res.Attempts != 1 || (err == nil) != (tt.class == verdict.OK) || tt.cause != nil && !errors.Is(err, tt.cause) {
					t.Errorf("%s after %d attempts: %v", res.Verdict.Class, res.Attempts, err)
				}
				if log := entries(t, r); log[0].InnerRetries != tt.inner || log[0].InnerWait != tt.waited.Seconds() {
					t.Errorf("on record: %d retries, waited %v", log[0].InnerRetries, log[0].InnerWait)
				}
				contains(t, res.Error, tt.text)
				addsUp(t, r, res)
			})
		})
	}
}

// What the CLI was told is the longest wait of Belay, too: where the CLI does not wait by itself, Belay does.
func TestOwnRetries_BelayWaits(t *testing.T) {
	for name, tt := range map[string]struct {
		own   agent.OwnRetries
		hint  time.Duration
		ok    bool
		words string
	}{
		"for as long as it takes":   {agent.OwnRetries{Set: true, MaxWait: -1, Setting: "CLAUDE_WAIT"}, 3 * time.Hour, true, ""},
		"up to its bound":           {agent.OwnRetries{Set: true, MaxWait: 4 * time.Hour, Setting: "CLAUDE_WAIT"}, 3 * time.Hour, true, ""},
		"not beyond its bound":      {agent.OwnRetries{Set: true, MaxWait: time.Hour, Setting: "CLAUDE_WAIT"}, 3 * time.Hour, false, "(CLAUDE_WAIT 1h)"},
		"as usual, if only retries": {agent.OwnRetries{Set: true}, 3 * time.Hour, false, "the longest wait allowed is 5m"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(agent.Info{Own: tt.own})
				script(r, out(verdict.UsageLimit, tt.hint), steps(0, enginetest.Line(enginetest.Event{Text: "done", Class: verdict.OK})))
				res, err := r.Run(t.Context(), claude)
				if (err == nil) != tt.ok || tt.ok && res.Waited < tt.hint {
					t.Errorf("waited %v: %v", res.Waited, err)
				}
				contains(t, res.Error, tt.words)
			})
		})
	}
}

// With a fallback another agent is asked instead of waiting for hours.
func TestOwnRetries_Fallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c, told := inTurn(t, "codex")
		r.Profile.(*enginetest.Agent).Facts.Own = agent.OwnRetries{Set: true, MaxWait: -1, Setting: "CLAUDE_WAIT"}
		script(r, enginetest.Attempt{Code: 1, Steps: waitsFor(verdict.UsageLimit, 3*time.Hour)}, codexAnswers)
		if res, err := r.Run(t.Context(), c); err != nil || res.Waited > 5*time.Minute || !slices.Equal(*told, []string{"claude to codex"}) {
			t.Errorf("waited %v, %q: %v", res.Waited, *told, err)
		}
	})
}
