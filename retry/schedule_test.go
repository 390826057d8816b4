package retry_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/retry"
)

// The schedules that seeds 000, 001 and 003 write down, as attempts are really made.
func TestDo_Schedules(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy retry.Policy
		gaps   []time.Duration
	}{
		{"Seed000Claude", retry.Policy{MaxRetries: 5, BaseDelay: 2 * time.Second, MaxDelay: 2 * time.Minute}, seconds(2, 4, 8, 16, 32)},
		{"Seed000Capped", retry.Policy{MaxRetries: 8, BaseDelay: 2 * time.Second, MaxDelay: 20 * time.Second}, seconds(2, 4, 8, 16, 20, 20, 20, 20)},
		{"Seed001Default", retry.Policy{MaxRetries: 3, BaseDelay: 2 * time.Second}, seconds(2, 4, 8)},
		{"Seed001Aggressive", retry.Policy{MaxRetries: 5, BaseDelay: time.Second}, seconds(1, 2, 4, 8, 16)},
		{"Seed001Conservative", retry.Policy{MaxRetries: 2, BaseDelay: 5 * time.Second}, seconds(5, 10)},
		{"Seed001SlowerGrowth", retry.Policy{MaxRetries: 5, BaseDelay: time.Second, Factor: 1.5, MaxDelay: 4 * time.Second}, seconds(1, 1.5, 2.25, 3.375, 4)},
		{"Seed003", retry.Policy{}, seconds(1, 2, 4)},
		{"Constant", retry.Policy{Factor: 1}, seconds(1, 1, 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.policy.Jitter = retry.NoJitter
				c.policy.Classify = classify
				s := always(errLost)
				_, err := retry.Do(t.Context(), c.policy, s.fn)
				equal(t, "attempts", stopped(t, err, retry.ErrExhausted).Attempts, len(c.gaps)+1)
				equalAll(t, "gaps", s.gaps(), c.gaps)
			})
		})
	}
}

// Seed 001: "Total time with failures: 14-17.5s", and the cumulative columns of its other tables.
func TestPreset_TotalOfSeed001(t *testing.T) {
	for _, c := range []struct {
		preset string
		total  time.Duration
	}{
		{"sdk", 14 * time.Second},
		{"aggressive", 31 * time.Second},
		{"conservative", 15 * time.Second},
	} {
		for _, j := range []struct {
			name   string
			rand   func() float64
			lo, hi time.Duration
		}{
			{"Least", constant(0), c.total, c.total},
			{"Most", constant(1), c.total * 5 / 4, c.total * 5 / 4},
			{"Random", nil, c.total, c.total * 5 / 4},
		} {
			t.Run(c.preset+"/"+j.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p, _ := retry.Preset(c.preset)
					p.Classify = classify
					p.Rand = j.rand
					s := always(errLost)
					_, err := retry.Do(t.Context(), p, s.fn)
					e := stopped(t, err, retry.ErrExhausted)
					equal(t, "waited", e.Waited, time.Since(s.start))
					if e.Waited < j.lo || e.Waited > j.hi {
						t.Errorf("waited %v, want %v to %v", e.Waited, j.lo, j.hi)
					}
				})
			})
		}
	}
}

func TestPreset_Rows(t *testing.T) {
	// One row a preset of the table in the specification.
	rows := []struct {
		name      string
		retries   int
		base, cap time.Duration
		jitter    string
		timeout   time.Duration
	}{
		{"default", 3, time.Second, time.Minute, "full", 0},
		{"claude", 4, 2 * time.Second, 2 * time.Minute, "proportional:0.2", 0},
		{"codex", 3, time.Second, time.Minute, "full", 0},
		{"gemini", 3, time.Second, time.Minute, "full", 0},
		{"opencode", 3, time.Second, time.Minute, "full", 0},
		{"gh", 3, time.Second, time.Minute, "plus:1s", 0},
		{"mcp", 1, 100 * time.Millisecond, 30 * time.Second, "full", 0},
		{"gateway", 3, time.Second, time.Minute, "none", 2 * time.Minute},
		{"sdk", 3, 2 * time.Second, time.Minute, "additive:0.25", 0},
		{"transport", 3, 2 * time.Second, time.Minute, "proportional:0.5", 0},
		{"interactive", 1, time.Second, time.Minute, "additive:0.25", 0},
		{"background", 5, 2 * time.Second, time.Minute, "additive:0.25", 0},
		{"critical", 10, time.Second, 2 * time.Minute, "additive:0.25", 0},
		{"aggressive", 5, time.Second, time.Minute, "additive:0.25", 0},
		{"conservative", 2, 5 * time.Second, time.Minute, "additive:0.25", 0},
	}
	var names []string
	for _, row := range rows {
		names = append(names, row.name)
		t.Run(row.name, func(t *testing.T) {
			p, ok := retry.Preset(row.name)
			if !ok {
				t.Fatal("unknown")
			}
			equal(t, "retries", p.MaxRetries, row.retries)
			equal(t, "base", p.BaseDelay, row.base)
			equal(t, "cap", p.MaxDelay, row.cap)
			equal(t, "jitter", p.Jitter.String(), row.jitter)
			equal(t, "timeout", p.Timeout, row.timeout)
			equal(t, "valid", p.Validate(), nil)
		})
	}
	equalAll(t, "names", retry.Presets(), names)
}

// A preset that cannot make its own number of retries within its own MaxWait would promise what it does not keep.
func TestPreset_RetriesFitMaxWait(t *testing.T) {
	for _, name := range retry.Presets() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, _ := retry.Preset(name)
				p.Classify = classify
				p.Rand = constant(1)
				s := always(errLost)
				_, err := retry.Do(t.Context(), p, s.fn)
				equal(t, "attempts", stopped(t, err, retry.ErrExhausted).Attempts, p.MaxRetries+1)
			})
		})
	}
}

func TestPreset_Unknown(t *testing.T) {
	if p, ok := retry.Preset("nonesuch"); ok {
		t.Errorf("got %v", p)
	}
}

func TestPreset_IsACopy(t *testing.T) {
	p, _ := retry.Preset("sdk")
	p.MaxRetries = 99
	q, _ := retry.Preset("sdk")
	equal(t, "retries", q.MaxRetries, 3)
	retry.Presets()[0] = "changed"
	equal(t, "first name", retry.Presets()[0], "default")
}
