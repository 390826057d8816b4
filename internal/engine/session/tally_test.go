package session

import (
	"encoding/json"
	"testing"

	"github.com/belay-run/belay/verdict"
)

// What an attempt has cost is told by itself, or found out from what the session has cost in all, or not known; the sum of a
// run is known if all of it is.
func TestAccount_Cost(t *testing.T) {
	type told struct {
		tokens  int64
		cost    float64 // of the attempt; -1 if it is not told
		total   float64 // of the session; -1 if it is not told
		of      int64   // how many tokens that is for
		unknown bool
		// estimate is the cost by the price list; nil if there is none.
		estimate *float64
	}
	const none = -1
	for name, tt := range map[string]struct {
		before   *float64
		tokens   int64
		attempts []told
		each     []any
		sum      any
	}{
		"each tells its own":                     {new(0.0), 0, []told{{10, 0.1, none, 0, false, nil}, {10, 0.2, none, 0, false, nil}}, []any{0.1, 0.2}, 0.3},
		"one does not":                           {new(0.0), 0, []told{{10, none, none, 0, false, nil}, {10, 0.2, none, 0, false, nil}}, []any{nil, 0.2}, nil},
		"one has used nothing":                   {new(0.0), 0, []told{{0, none, none, 0, false, nil}, {10, 0.2, none, 0, false, nil}}, []any{nil, 0.2}, 0.2},
		"the session's total":                    {new(1.0), 100, []told{{10, none, 1.5, 110, false, nil}, {10, none, 1.75, 120, false, nil}}, []any{0.5, 0.25}, 0.75},
		"nobody knows what was before":           {nil, 0, []told{{10, none, 1.5, 110, false, nil}, {10, none, 1.75, 120, false, nil}}, []any{nil, 0.25}, nil},
		"a total that settles":                   {new(0.0), 0, []told{{10, none, none, 0, false, nil}, {20, none, 0.75, 30, false, nil}}, []any{nil, 0.75}, 0.75},
		"one that settles two":                   {new(1.0), 100, []told{{10, none, none, 0, false, nil}, {10, none, none, 0, false, nil}, {20, none, 1.75, 140, false, nil}}, []any{nil, nil, 0.75}, 0.75},
		"one that does not: it was killed":       {new(1.0), 100, []told{{10, none, none, 0, false, nil}, {20, none, 1.5, 120, false, nil}}, []any{nil, 0.5}, nil},
		"one that settles a part":                {new(1.0), 100, []told{{10, none, none, 0, false, nil}, {10, none, none, 0, false, nil}, {20, none, 1.75, 130, false, nil}}, []any{nil, nil, nil}, nil},
		"cut off, and not told":                  {new(0.0), 0, []told{{10, none, none, 0, true, nil}, {20, none, 0.75, 30, false, nil}}, []any{nil, nil}, nil},
		"cut off, and told what was before":      {new(0.0), 0, []told{{10, none, 0.25, 5, true, nil}, {20, none, 0.75, 25, false, nil}}, []any{nil, 0.5}, nil},
		"cut off, and in nobody's total":         {new(1.0), 100, []told{{10, none, none, 0, true, nil}, {20, none, 1.5, 120, false, nil}}, []any{nil, 0.5}, nil},
		"one is estimated":                       {new(0.0), 0, []told{{10, none, none, 0, false, new(0.3)}, {10, 0.2, none, 0, false, new(0.9)}}, []any{0.3, 0.2}, 0.5},
		"cut off, and estimated":                 {new(0.0), 0, []told{{10, none, none, 0, true, new(0.3)}, {10, 0.2, none, 0, false, nil}}, []any{0.3, 0.2}, 0.5},
		"a total with what was estimated":        {new(1.0), 100, []told{{10, none, none, 0, false, new(0.3)}, {20, none, 1.75, 130, false, new(0.9)}}, []any{0.3, 0.45}, 0.75},
		"a total without what was estimated":     {new(1.0), 100, []told{{10, none, none, 0, false, new(0.3)}, {20, none, 1.5, 120, false, new(0.9)}}, []any{0.3, 0.5}, 0.8},
		"estimated, as nobody knows the rest":    {nil, 0, []told{{10, none, 1.5, 110, false, new(0.4)}, {10, none, 1.75, 120, false, nil}}, []any{0.4, 0.25}, 0.65},
		"one is estimated, one is not":           {new(1.0), 100, []told{{10, none, none, 0, false, new(0.3)}, {10, none, none, 0, false, nil}, {20, none, 2.0, 140, false, nil}}, []any{0.3, nil, 0.7}, 1.0},
		"others have used the session meanwhile": {new(1.0), 100, []told{{10, none, 1.5, 500, false, nil}}, []any{0.5}, 0.5},
	} {
		a := account{told: tt.before, tokens: tt.tokens}
		var run tally
		for i, one := range tt.attempts {
			u := verdict.Usage{InputTokens: one.tokens, Unknown: one.unknown}
			if one.cost >= 0 {
				u.CostUSD = &one.cost
			}
			var total *float64
			if one.total >= 0 {
				total = &one.total
			}
			a.add(&u, total, one.of, one.estimate)
			run.add(u)
			if got, want := costText(u), text(tt.each[i]); got != want {
				t.Errorf("%s: attempt %d has cost %s, want %s", name, i+1, got, want)
			}
		}
		if got := costText(run.Sum()); got != text(tt.sum) || costText(a.here.Sum()) != got {
			t.Errorf("%s: all have cost %s, in the session %s, want %s", name, got, costText(a.here.Sum()), text(tt.sum))
		}
	}
}

func text(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

func costText(u verdict.Usage) string { return text(u.Rounded().CostUSD) }
