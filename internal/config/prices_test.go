package config

import (
	"strings"
	"testing"
)

// Each mistake in a price is named by its key.
func TestPrices_Mistakes(t *testing.T) {
	for text, want := range map[string]string{
		`prices = 3`:                                                          "prices: must be a table",
		"[prices]\nm = 3":                                                     "prices.m: must be a table",
		"[prices.m]\ninput = 1":                                               "prices.m.output: is missing",
		"[prices.m]\noutput = 1":                                              "prices.m.input: is missing",
		"[prices.m]\ninput = 'x'\noutput = 1":                                 `prices.m.input: "x" is not a price`,
		"[prices.m]\ninput = 3e6\noutput = 1":                                 `prices.m.input: "3e+06" is not a price`,
		"[prices.'']\ninput = 1\noutput = 1":                                  "prices.: has no name",
		"[prices.m]\ninput = nan\noutput = 1":                                 `prices.m.input: "NaN" is not a price`,
		"[prices.m]\ninput = 1\noutput = inf":                                 `prices.m.output: "+Inf" is not a price`,
		"[prices.m]\ninput = 1\noutput = 1\ncache = 1":                        "prices.m.cache: unknown key",
		"[prices.m]\ninput = 1\noutput = 1\nlong = 5":                         "prices.m.long: must be a table",
		"[prices.m]\ninput = 1\noutput = 1\nlong = { input = 1, output = 1 }": "prices.m.long.above: must be the prompt size",
		"[prices.m]\ninput = 1\noutput = 1\nlong = { above = 10, input = 1 }": "prices.m.long.output: is missing",
		"[prices.m]\nlike = 'nothing'":                                        `prices.m.like: "nothing" is not in the price list`,
		"[prices.m]\nlike = 'gpt-5'\ninput = 1":                               "prices.m.like: cannot be combined",
		"[prices.gpt-5.6]\ninput = 1\noutput = 1":                             "prices.gpt-5.6: unknown key",
	} {
		if _, err := parseFile("config.toml", []byte(text), false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
