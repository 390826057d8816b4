package merge_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/fleet/merge"
	"github.com/belay-run/belay/internal/quota"
)

var noon = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)

// machine is one whose calls change a state.
type machine struct {
	*gate.Memory
	name  string
	calls int
	open  []*gate.Pass
}

const key = "api"

// do has one thing happen to the gate of a machine.
func (m *machine) do(r *rand.Rand) {
	g := &gate.Gate{Store: m.Memory, Key: key, Rand: r.Float64}
	change := func(f func(gate.State, time.Time) gate.State) {
		now := time.Now()
		m.Update(key, now, func(s gate.State) gate.State { return f(s, now) })
	}
	time.Sleep(time.Duration(r.IntN(30)) * time.Second)
	switch n := r.IntN(12); {
	case n < 4:
		m.calls++
		if pass, refused := g.Enter(fmt.Sprintf("%s/%d", m.name, m.calls)); refused == nil {
			m.open = append(m.open, pass)
		}
	case n < 10 && len(m.open) > 0:
		pass := m.open[0]
		m.open = m.open[1:]
		switch n {
		case 4, 5:
			pass.Succeeded()
		case 6:
			pass.Throttled(time.Duration(r.IntN(90))*time.Second, "limit")
		case 7:
			pass.Failed("broken")
		case 8:
			pass.Released()
		default:
			pass.Answered()
		}
	case n == 10 && r.IntN(2) == 0:
		g.Spend()
	case n == 10:
		change(func(s gate.State, now time.Time) gate.State {
			s.Quota = s.Quota.Tell(now, now, m.name, []quota.Window{{Name: []string{"five_hour", "seven_day"}[r.IntN(2)], Used: r.Float64(), Resets: now.Add(time.Hour)}})
			return s
		})
	case r.IntN(6) == 0:
		change(func(s gate.State, now time.Time) gate.State { return s.Reset(now) })
	case r.IntN(4) == 0:
		change(func(s gate.State, now time.Time) gate.State {
			return s.Held(now, now.Add(time.Duration(r.IntN(100))*time.Second), "by hand")
		})
	}
}

func (m *machine) state() gate.State {
	s, _ := m.Load(key)
	return s
}

// TestStates holds what every exchange relies on, for states that real calls have made.
func TestStates(t *testing.T) { synctest.Test(t, testStates) }

func testStates(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		a := &machine{Memory: &gate.Memory{}, name: "a"}
		for range r.IntN(20) {
			a.do(r)
		}
		base := a.state()
		b := &machine{Memory: &gate.Memory{}, name: "b"}
		b.Update(key, time.Now(), func(gate.State) gate.State { return base })
		for range r.IntN(12) {
			a.do(r)
			b.do(r)
		}
		now, x, y := time.Now(), a.state(), b.state()
		both := merge.States(base, x, y, now)
		if other := merge.States(base, y, x, now); !merge.Same(both, other) {
			t.Fatalf("seed %d: it matters who comes first:\n%+v\n%+v\nbase %+v\na    %+v\nb    %+v", seed, both, other, base, x, y)
		}
		for what, same := range map[string]bool{
			"what only one has changed is as that one has it": merge.Same(merge.States(base, x, base, now), x) && merge.Same(merge.States(base, base, y, now), y),
			"what was merged says nothing new":                merge.Same(merge.States(both, both, both, now), both),
			"another clock shows the same":                    merge.Same(merge.Shifted(merge.Shifted(both, time.Hour), -time.Hour), both),
			"who has agreed learns nothing more":              merge.Same(merge.States(x, x, both, now), both),
		} {
			if !same {
				t.Fatalf("seed %d: not so: %s\nbase %+v\na    %+v\nb    %+v\nboth %+v", seed, what, base, x, y, both)
			}
		}
		for _, w := range slices.Concat(x.Quota, y.Quota) {
			if i := slices.IndexFunc(both.Quota, func(o quota.Window) bool { return o.Name == w.Name }); i >= 0 && both.Quota[i].Told.Before(w.Told) {
				t.Fatalf("seed %d: %+v counts, not %+v", seed, both.Quota, w)
			}
		}
		if ends := both.Hold.Left(now); x.Hold.Live(now) && y.Hold.Live(now) && ends < min(x.Hold.Left(now), y.Hold.Left(now)) {
			t.Fatalf("seed %d: a hold of both is shorter: %+v, %+v, %+v", seed, x.Hold, y.Hold, both.Hold)
		}
	}
}

func TestStates_Cases(t *testing.T) {
	held := gate.State{}.Held(noon, noon.Add(time.Hour), "limit")
	slow := held
	slow.Ramp.Starts = []gate.Start{{Holder: "x/1", Expires: noon.Add(30 * time.Second)}}
	with := func(s gate.State, change func(*gate.State)) gate.State { change(&s); return s }
	told := func(used float64, at time.Duration) gate.State {
		return gate.State{Quota: quota.Quota{{Name: "five_hour", Used: used, Resets: noon.Add(2 * time.Hour), Told: noon.Add(at)}}}
	}
	for name, c := range map[string]struct{ base, a, b, want gate.State }{
		"the newest news of a limit":           {told(0.1, -time.Hour), told(0.2, -3*time.Minute), told(0.3, -time.Minute), told(0.3, -time.Minute)},
		"no news of a clock that is ahead":     {told(0.1, -time.Hour), told(0.9, time.Hour), told(0.3, -time.Minute), told(0.3, -time.Minute)},
		"nor where both have none in common":   {gate.State{}, told(0.3, -time.Minute), told(0.9, time.Hour), told(0.3, -time.Minute)},
		"a reset wins over what was before it": {held, gate.State{}, held, gate.State{}},
		"a later hold wins over a reset":       {held, gate.State{}, gate.State{}.Held(noon, noon.Add(2*time.Hour), "limit"), gate.State{}.Held(noon, noon.Add(2*time.Hour), "limit")},
		"answers of both count": {
			slow,
			with(slow, func(s *gate.State) { s.Ramp.Starts, s.Ramp.Answers, s.Ramp.Allowed = nil, 1, 2 }),
			with(slow, func(s *gate.State) { s.Ramp.Answers, s.Ramp.Allowed = 2, 3 }),
			with(slow, func(s *gate.State) { s.Ramp.Starts, s.Ramp.Answers, s.Ramp.Allowed = nil, 3, 4 }),
		},
		"failures of both count": {
			gate.State{Breaker: breaker.State{Failures: 1}}, gate.State{Breaker: breaker.State{Failures: 2}}, gate.State{Breaker: breaker.State{Failures: 3}},
			gate.State{Breaker: breaker.State{Failures: 4}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := merge.States(c.base, c.a, c.b, noon); !merge.Same(got, c.want) {
				t.Errorf("%+v, not %+v", got, c.want)
			}
		})
	}
}
