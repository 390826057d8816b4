package db

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/belay-run/belay/verdict"
)

func TestPlainUsage_TakesWhatARunWrites(t *testing.T) {
	cost := 0.0123
	for _, want := range []verdict.Usage{{InputTokens: 1234, OutputTokens: 56, CacheReadInputTokens: 7, CacheCreationInputTokens: 8, CostUSD: &cost}, {InputTokens: 1},
		{InputTokens: 1, CostUSD: &cost, Estimated: true}} {
		var got verdict.Usage
		if !plainUsage(want.JSON(), &got) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", want.JSON(), got)
		}
	}
}

// What it takes, encoding/json takes in the same way.
func FuzzPlainUsage(f *testing.F) {
	cost := 1e-7
	f.Add(string(verdict.Usage{InputTokens: 12, CostUSD: &cost}.JSON()))
	f.Add(string(verdict.Usage{InputTokens: 12, CostUSD: &cost, Estimated: true}.JSON()))
	f.Add(`{"input_tokens":01,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4,"total_cost_usd":null}`)
	f.Add(`{"input_tokens":-1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4,"total_cost_usd": 5 }`)
	f.Fuzz(func(t *testing.T, text string) {
		var got, want verdict.Usage
		if !plainUsage([]byte(text), &got) {
			return
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, encoding/json says %+v, %v", text, got, want, err)
		}
	})
}
