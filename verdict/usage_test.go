package verdict_test

import (
	"encoding/json"
	"math"
	"strings"
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

// What else a CLI reports is kept beside what all of them do, as long as it is not much.
func TestUsage_Other(t *testing.T) {
	long := `"` + strings.Repeat("x", 900) + `"`
	for name, tt := range map[string]struct{ reported, want string }{
		"claude":   {`{"input_tokens":7,"service_tier":"standard","server_tool_use":{"web_search_requests":1},"total_cost_usd":9,"estimated":true,"settles":3}`, `,"server_tool_use":{"web_search_requests":1},"service_tier":"standard"}`},
		"nothing":  {`{"input_tokens":7}`, `}`},
		"no JSON":  {`{"a":`, `}`},
		"no keys":  {`[1]`, `}`},
		"null":     {`null`, `}`},
		"too much": {`{"a":` + long + `,"b":` + long + `,"c":1,"<é\u001b":2}`, `,"\u003cé\u001b":2,"a":` + long + `,"c":1}`},
	} {
		u := spent(1, 0.5).WithOther(json.RawMessage(tt.reported))
		got, err := json.Marshal(u)
		if want := `{"input_tokens":1,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"total_cost_usd":0.5` + tt.want; err != nil || string(got) != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, got, want)
		}
		var back verdict.Usage
		if err := json.Unmarshal(got, &back); err != nil || back.InputTokens != 1 || *back.CostUSD != 0.5 {
			t.Errorf("%s: %+v, %v", name, back, err)
		}
	}
	first, last := spent(1, 0).WithOther(json.RawMessage(`{"n":1}`)), spent(1, 0).WithOther(json.RawMessage(`{"n":2}`))
	for _, sum := range []verdict.Usage{first.Add(last), first.Add(last).Add(spent(1, 0))} {
		if string(sum.Other["n"]) != "2" {
			t.Errorf("%s", sum.Other)
		}
	}
}
