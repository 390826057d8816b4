package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// toldOf is what an agent tells of its five hours, which end in two.
func toldOf(used float64) []quota.Window {
	return []quota.Window{{Name: "five_hour", Used: used, Resets: time.Now().Add(2 * time.Hour)}}
}

// reserving is a runner that leaves a fifth of the limits of an account of which so much is used.
func reserving(t *testing.T, used float64) *engine.Runner {
	r := agentRunner(agent.Info{Gate: "api"})
	r.Reserve, r.Policy.MaxWait = quota.Reserve{"": 0.2}, retry.None
	script(r, steps(0, enginetest.Line(enginetest.Event{Text: "hi", Class: verdict.OK})))
	if used > 0 {
		change(t, r.Shared, "api", func(s gate.State, now time.Time) gate.State {
			s.Quota = s.Quota.Tell(now, now, "earlier", toldOf(used))
			return s
		})
	}
	return r
}

func TestReserve(t *testing.T) {
	for name, c := range map[string]struct {
		used  float64
		with  func(t *testing.T, r *engine.Runner)
		waits time.Duration
		class verdict.Class // how it ends; empty means well
	}{
		"nothing is known":     {},
		"just enough":          {used: 0.8},
		"too much is used":     {used: 0.81, waits: 2 * time.Hour},
		"far beyond":           {used: 1.3, waits: 2 * time.Hour},
		"no reserve":           {used: 0.99, with: func(_ *testing.T, r *engine.Runner) { r.Reserve = nil }},
		"of another window":    {used: 0.99, with: func(_ *testing.T, r *engine.Runner) { r.Reserve = quota.Reserve{"seven_day": 0.9} }},
		"within the wait":      {used: 0.9, with: func(_ *testing.T, r *engine.Runner) { r.Policy.MaxWait = 3 * time.Hour }, waits: 2 * time.Hour},
		"longer than the wait": {used: 0.9, with: func(_ *testing.T, r *engine.Runner) { r.Policy.MaxWait = time.Hour }, class: verdict.UsageLimit},
		"when it is lifted":    {used: 0.9, with: func(_ *testing.T, r *engine.Runner) { r.Policy.MaxWait, r.Schedule.WhenLifted = 1, true }, waits: 2 * time.Hour},
		"a conversation starts": {used: 0.9, with: func(_ *testing.T, r *engine.Runner) {
			r.Profile.(*enginetest.Agent).Facts.Once, r.WholeStream = true, true
		}},
		"the store is broken": {used: 0.9, with: func(_ *testing.T, r *engine.Runner) { r.Shared = brokenStore{} }},
		"it has begun": {used: 0.5, with: func(_ *testing.T, r *engine.Runner) { // which its own retries do not end
			script(r, steps(1, enginetest.Line(enginetest.Event{Quota: toldOf(0.95), Class: verdict.Overloaded, Hint: time.Minute})), steps(0, enginetest.Line(enginetest.Event{Text: "hi"})))
		}, waits: time.Minute},
		"it is reset by hand": {used: 0.9, with: func(t *testing.T, r *engine.Runner) {
			time.AfterFunc(10*time.Minute, func() { change(t, r.Shared, "api", gate.State.Reset) })
		}, waits: 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := reserving(t, c.used)
				if c.with != nil {
					c.with(t, r)
				}
				begun := time.Now()
				res, err := r.Run(t.Context(), claude)
				if waited := time.Since(begun); waited < c.waits || waited > c.waits+2*time.Minute {
					t.Errorf("waited for %v", waited)
				}
				if c.class == "" {
					must.OK(t, err)
					return
				}
				if res.ExitCode != engine.CodeTryLater || res.Verdict.Class != c.class || !res.Verdict.Hint.At.Equal(begun.Add(2*time.Hour)) ||
					!strings.Contains(res.Error, "90% of five_hour is used, and 20% is kept in reserve") {
					t.Errorf("%+v", res)
				}
			})
		})
	}
}

// What an agent tells is there for others at once, and is written only if it is new.
func TestQuota_Told(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := reserving(t, 0)
		event := func(used float64) enginetest.Step { return enginetest.Line(enginetest.Event{Quota: toldOf(used)}) }
		writes := &countedStore{Memory: r.Shared.(*gate.Memory)}
		r.Shared = writes
		var filled []float64
		r.Follow = func(a engine.Activity) {
			if a.Filled != nil {
				filled = append(filled, a.Filled.Used)
			}
		}
		atEnd, _ := json.Marshal(agent.Account{Quota: toldOf(0.4)}) // which is what a record tells
		script(r, steps(0, event(0.1), event(0.1), enginetest.Wait(2*time.Second), event(0.3), enginetest.Line(enginetest.Event{Text: "hi", Account: atEnd})))
		res, err := r.Run(t.Context(), claude)
		must.OK(t, err)
		s, _ := r.Shared.Load("api")
		filled = slices.Compact(filled)
		if len(s.Quota) != 1 || s.Quota[0].Used != 0.4 || s.Quota[0].By != res.ID || writes.n != 3 || !slices.Equal(filled, []float64{0.1, 0.3, 0.4}) {
			t.Errorf("%+v after %d writes, told %v", s.Quota, writes.n, filled)
		}
	})
}

// A store that another process has locked, which was stopped, holds an agent up once, not with each of its news.
func TestQuota_StoreIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := reserving(t, 0)
		r.Shared = stuckStore{r.Shared.(*gate.Memory)}
		var told []enginetest.Step
		for i := range 8 {
			told = append(told, enginetest.Line(enginetest.Event{Quota: toldOf(float64(i) / 10)}))
		}
		script(r, steps(0, append(told, enginetest.Line(enginetest.Event{Text: "hi"}))...))
		begun := time.Now()
		_, err := r.Run(t.Context(), claude)
		must.OK(t, err)
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// stuckStore is a store that can be read, and whose lock is not to be had.
type stuckStore struct{ *gate.Memory }

func (stuckStore) Update(string, time.Time, func(gate.State) gate.State) error {
	time.Sleep(2 * time.Second)
	return errBroken
}

// countedStore counts how often something is written.
type countedStore struct {
	*gate.Memory
	n int
}

func (s *countedStore) Update(key string, now time.Time, change func(gate.State) gate.State) error {
	return s.Memory.Update(key, now, func(before gate.State) gate.State {
		after := change(before)
		if !quota.Same(before.Quota, after.Quota) {
			s.n++
		}
		return after
	})
}

// A window that will be full before it resets raises one alert, where that is asked for; the next window may raise another.
func TestQuota_AlertsOnceAWindow(t *testing.T) {
	for name, c := range map[string]struct {
		used []float64 // every ten minutes
		off  bool
		want int
	}{
		"it fills":                  {used: []float64{0.3, 0.5, 0.7, 0.9}, want: 1},
		"it does not":               {used: []float64{0.5, 0.51, 0.52, 0.53}},
		"too little to tell":        {used: []float64{0.7}},
		"its first half":            {used: []float64{0.1, 0.2, 0.3, 0.4}},
		"it is full already":        {used: []float64{0.1, 1.1, 1.2}},
		"not asked for":             {used: []float64{0.3, 0.5, 0.7}, off: true},
		"the next window fills too": {used: []float64{0.3, 0.5, 0.7, -0.3, 0.5, 0.7}, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := reserving(t, 0)
				r.Alert.Forecast = !c.off
				var said []string
				r.Observe = func(e belaytype.Event) {
					if a, ok := e.(belaytype.AlertRaised); ok {
						said = append(said, a.Last)
					}
				}
				var told []enginetest.Step
				resets := time.Now().Add(2 * time.Hour)
				for _, used := range c.used {
					news := toldOf(used)
					if used < 0 { // a new one has begun
						news[0].Used, resets = -used, resets.Add(5*time.Hour)
					}
					news[0].Resets = resets
					told = append(told, enginetest.Line(enginetest.Event{Quota: news}), enginetest.Wait(10*time.Minute))
				}
				script(r, steps(0, append(told, enginetest.Line(enginetest.Event{Text: "hi", Class: verdict.OK}))...))
				_, err := r.Run(t.Context(), claude)
				must.OK(t, err)
				if len(said) != c.want || c.want > 0 && !strings.HasPrefix(said[0], "five_hour of api will be full at about ") {
					t.Errorf("%q", said)
				}
			})
		})
	}
}
