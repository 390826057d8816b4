package alert_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/alert"
)

var t0 = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// raises feeds failures at minutes and returns those that raise an alert.
func raises(set alert.Settings, minutes ...float64) string {
	var s alert.State
	var at []string
	for _, m := range minutes {
		var raised bool
		if s, raised = s.Failed(set, t0.Add(time.Duration(m*float64(time.Minute)))); raised {
			at = append(at, fmt.Sprint(m))
		}
	}
	return strings.Join(at, " ")
}

func TestState_Failed(t *testing.T) {
	tests := map[string]struct {
		set     alert.Settings
		minutes []float64
		want    string
	}{
		"a single failure is no news":                    {alert.Settings{}, []float64{0}, ""},
		"four are not enough":                            {alert.Settings{}, []float64{0, 1, 2, 3}, ""},
		"the fifth raises":                               {alert.Settings{}, []float64{0, 1, 2, 3, 4}, "4"},
		"five at once":                                   {alert.Settings{}, []float64{0, 0, 0, 0, 0}, "0"},
		"five in exactly ten minutes":                    {alert.Settings{}, []float64{0, 1, 2, 3, 10}, "10"},
		"five in more than that":                         {alert.Settings{}, []float64{0, 1, 2, 3, 10.1}, ""},
		"one every three minutes never raises":           {alert.Settings{}, []float64{0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30}, ""},
		"once an episode":                                {alert.Settings{}, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "4"},
		"an hour of failures is one episode":             {alert.Settings{}, everyMinute(60), "4"},
		"below for nine minutes is the same episode":     {alert.Settings{}, []float64{0, 0, 0, 0, 0, 19, 19, 19, 19, 19}, "0"},
		"below for ten minutes ends it":                  {alert.Settings{}, []float64{0, 0, 0, 0, 0, 20, 20, 20, 20, 20}, "0 20"},
		"a few failures below the threshold do not hold": {alert.Settings{}, []float64{0, 0, 0, 0, 0, 12, 18, 24, 24, 24, 24}, "0 24"},
		"other thresholds":                               {alert.Settings{Failures: 2, Within: time.Minute}, []float64{0, 0.5, 5, 5.5}, "0.5 5.5"},
		"a threshold of one":                             {alert.Settings{Failures: 1}, []float64{0, 5, 30}, "0 30"},
		"off":                                            {alert.Settings{Failures: -1}, everyMinute(60), ""},
		"a clock that goes back a little":                {alert.Settings{}, []float64{3, 2, 4, 1, 0}, "0"},
		"a clock that was set back for a day":            {alert.Settings{}, []float64{1440, 1440, 1440, 1440, 1440, 0, 0, 0, 0, 0}, "1440 0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := raises(tt.set, tt.minutes...); got != tt.want {
				t.Errorf("raised at %q, want %q", got, tt.want)
			}
		})
	}
}

func everyMinute(n int) (list []float64) {
	for i := range n {
		list = append(list, float64(i))
	}
	return list
}

// What the state remembers is little; this is the definition, over all failures.
func TestState_AsTheWholeHistorySays(t *testing.T) {
	const n, within, step = 5, 10 * time.Minute, 30 * time.Second
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 0))
		var s alert.State
		var all []time.Time
		var above time.Time // when the failures were last enough
		enough := func(at time.Time) bool {
			count := 0
			for _, f := range all {
				if !f.After(at) && at.Sub(f) <= within {
					count++
				}
			}
			return count >= n
		}
		now := t0
		for i := range 100 {
			now = now.Add(time.Duration(random.IntN(1+random.IntN(20))) * step)
			// It was enough from a failure on until the n-th last of then had become too old.
			for at := now.Add(-step); at.After(above) && len(all) > 0 && at.After(all[0]); at = at.Add(-step) {
				if enough(at) {
					above = at
					break
				}
			}
			all = append(all, now)
			want := enough(now) && (above.IsZero() || now.Sub(above) >= within)
			var got bool
			if s, got = s.Failed(alert.Settings{}, now); got != want {
				t.Fatalf("seed %d, failure %d at %v: raised is %v, want %v (above until %v)", seed, i, now.Sub(t0), got, want, above.Sub(t0))
			}
			if enough(now) {
				above = now
			}
		}
	}
}

func TestState_StaysSmall(t *testing.T) {
	var s alert.State
	for i := range 10_000 {
		s, _ = s.Failed(alert.Settings{Failures: 1_000_000}, t0.Add(time.Duration(i)))
	}
	if len(s.Times) > 1000 {
		t.Errorf("%d times are remembered", len(s.Times))
	}
}

func TestConfig_For(t *testing.T) {
	c := alert.Config{Settings: alert.Settings{Failures: 7}, Per: map[string]alert.Settings{
		"claude": {Failures: 20}, "mcp:files": {Within: time.Hour}, "generic": {Failures: -1}}}
	for name, want := range map[string]alert.Settings{"codex": {Failures: 7}, "claude": {Failures: 20}, "mcp:files": {Failures: 7, Within: time.Hour}, "generic": {Failures: -1}} {
		if got := c.For(name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestCounts(t *testing.T) {
	for _, tt := range []struct {
		class, rule string
		started     bool
		want        bool
	}{{"ok", "", true, false}, {"", "", true, false}, {"network", "", true, true}, {"auth", "", true, true}, {"unknown", "", true, true},
		{"interrupted", "", true, false}, {"interrupted", "", false, false}, {"breaker_open", "", false, false}, {"rate_limit", "", false, false},
		{"rate_limit", "", true, true}, {"not_done", "", true, false}, {"session_busy", "", false, false}, {"tool_missing", "", false, true},
		{"limit_reached", "max-turns", true, true}, {"limit_reached", alert.RuleMaxCost, true, false}, {"limit_reached", alert.RuleBudget, true, false},
		{"limit_reached", alert.RuleBudget, false, false}} {
		if got := alert.Counts(tt.class, tt.rule, tt.started); got != tt.want {
			t.Errorf("%s by %s, started %v: %v", tt.class, tt.rule, tt.started, got)
		}
	}
}

// What a client has asked wrongly says nothing of the server.
func TestCountsCall(t *testing.T) {
	for class, want := range map[string]bool{"unknown": true, "server_error": true, "timeout": true, "crash": true, "too_large": true, "": false,
		"invalid_request": false, "not_found": false, "interrupted": false, "breaker_open": false} {
		if got := alert.CountsCall(class); got != want {
			t.Errorf("%s: %v", class, got)
		}
	}
}
