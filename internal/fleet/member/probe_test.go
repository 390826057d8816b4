//go:build unix

package member_test

import (
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
)

// Calls on three machines wait for an open breaker. One of them finds out whether the service is back, not one on each machine: the machines may probe
// at different times, a step apart, and one that has heard of a probe makes none.
func TestMember_OneProbe(t *testing.T) {
	t.Parallel()
	list := join(t, "ant", "bee", "cat")
	list[1].change("api", func(s gate.State, now time.Time) gate.State { return s.Opened(now, now.Add(3*time.Second), "broken") })
	until := func(m *machine) time.Time { return m.gate("api").Breaker.Until }
	for _, m := range list {
		eventually(t, m.name+" knows of the breaker", func() bool { return m.gate("api").Breaker.Phase == breaker.Open })
	}
	eventually(t, "bee has a time of its own", func() bool { return !until(list[0]).Equal(until(list[1])) })
	slices.SortFunc(list, func(a, b *machine) int { return until(a).Compare(until(b)) })
	// On a busy machine, clocks are measured to differ that do not.
	const step, inaccurate = 500 * time.Millisecond, 200 * time.Millisecond
	before := map[string]time.Time{}
	for i, m := range list {
		before[m.name] = until(m)
		if d := until(m).Sub(until(list[0])) - time.Duration(i)*step; d.Abs() > inaccurate {
			t.Errorf("%s may probe %v after %s, want %d steps of %v", m.name, until(m).Sub(until(list[0])), list[0].name, i, step)
		}
	}

	// A further change of the gate does not put the probe off once more, on a machine that may probe last least of all.
	list[2].change("api", func(s gate.State, now time.Time) gate.State { s.Budget = gate.Budget{Spent: 1, At: now}; return s })
	for _, m := range list {
		eventually(t, m.name+" knows of the change", func() bool { return m.gate("api").Budget.Spent > 0 })
		if d := until(m).Sub(before[m.name]); d.Abs() > inaccurate {
			t.Errorf("a change has put off the probe of %s by %v", m.name, d)
		}
	}

	enter := func(m *machine) (*gate.Pass, *gate.Refusal) {
		return (&gate.Gate{Store: m.state.Gates(), Key: "api", Settings: gate.Settings{Breaker: breaker.Settings{Lease: time.Hour}}}).Enter(m.name)
	}
	var probe *gate.Pass
	eventually(t, "the first of them probes", func() bool { probe, _ = enter(list[0]); return probe != nil })
	for _, m := range list[1:] {
		eventually(t, m.name+" knows of the probe", func() bool { return m.gate("api").Breaker.Probe.Holder != "" })
		if pass, refused := enter(m); refused == nil {
			t.Errorf("%s probes too", m.name)
			pass.Released()
		}
	}
	probe.Failed("broken")
	for _, m := range list {
		eventually(t, m.name+" knows of the failure", func() bool { return m.gate("api").Breaker.Phase == breaker.Open })
	}
}
