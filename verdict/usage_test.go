package verdict_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/belay-run/belay/verdict"
)

func spent(tokens int64, cost float64) verdict.Usage {
	return verdict.Usage{InputTokens: tokens, CostUSD: &cost}
}

// A sum is known if all of it is: an unknown part does not count as 0. Of a part that was cut off counts what is known.
func TestUsage_Add(t *testing.T) {
	untold := verdict.Usage{InputTokens: 100}
	cut := spent(50, 0.5)
	cut.Unknown = true
	guessed := spent(50, 0.5)
	guessed.Estimated = true
	settling := spent(1, 0.25)
	settling.Settles = 2
	for name, tt := range map[string]struct {
		a, b verdict.Usage
		want string
	}{
		"both told":             {spent(1, 0.0008), spent(2, 0.0008), `{"input_tokens":3,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"total_cost_usd":0.0016}`},
		"one untold":            {untold, spent(2, 0.5), `{"input_tokens":102,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"total_cost_usd":null}`},
		"one cut":               {cut, spent(2, 0.5), `{"input_tokens":52,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"total_cost_usd":1,"unknown":true}`},
		"one cut, one not told": {cut, untold, `{"input_tokens":150,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"total_cost_usd":null,"unknown":true}`},
		"one estimated":         {guessed, spent(2, 0.5), `{"input_tokens":52,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"total_cost_usd":1,"estimated":true}`},
		"estimated, untold":     {guessed, untold, `{"input_tokens":150,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"total_cost_usd":null}`},
		"one nothing":           {verdict.Usage{}, spent(2, 0.5), `{"input_tokens":2,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"total_cost_usd":0.5}`},
		"both nothing":          {verdict.Usage{}, verdict.Usage{}, `{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"total_cost_usd":null}`},
		"one costs nothing":     {spent(0, 0), verdict.Usage{}, `{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"total_cost_usd":0}`},
		"one settles":           {verdict.Usage{}, settling, `{"input_tokens":1,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"total_cost_usd":0.25}`},
	} {
		for _, sum := range []verdict.Usage{tt.a.Add(tt.b), tt.b.Add(tt.a)} {
			if got, err := json.Marshal(sum); err != nil || string(got) != tt.want {
				t.Errorf("%s: %s, %v; want %s", name, got, err, tt.want)
			}
		}
	}
}

// A cost is written as it was meant.
func TestUsage_Rounded(t *testing.T) {
	for cost, want := range map[float64]string{0.0008 + 0.0008: "0.0016", 0.1 + 0.2: "0.3", 0.0016000000000000003: "0.0016", 1e-9: "1e-9",
		1e-12: "0", 0.010199999999999999: "0.0102", 123456.789: "123456.789", 1e300: "1e+300", 0: "0"} {
		got, err := json.Marshal(spent(0, cost))
		var back struct {
			Cost json.RawMessage `json:"total_cost_usd"`
		}
		if err == nil {
			err = json.Unmarshal(got, &back)
		}
		if err != nil || string(back.Cost) != want {
			t.Errorf("%v is written as %s, %v; want %s", cost, back.Cost, err, want)
		}
	}
	if got := spent(1, math.Inf(1)).JSON(); !json.Valid(got) {
		t.Errorf("%s", got)
	}
}
