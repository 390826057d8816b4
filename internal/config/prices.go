package config

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/price"
)

const pricesExample = `[prices."my-model"]`

// readPrices reads the table [prices] of the user's file: what models cost, over the list that is built in.
func readPrices(t *fields) map[string]price.Price {
	all := map[string]price.Price{}
	for _, model := range t.keys() {
		if strings.TrimSpace(model) == "" {
			t.fail(cmp.Or(model, "."), message.Error("has no name; write "+pricesExample)) // of nothing at all the dot is shown
		}
		must := message.Sentences(message.MustBeTable(pricesExample), "put a name that contains a dot in quotes")
		all[model] = modelPrice(t.tableOf(model, must))
	}
	return all
}

// modelPrice is the price of one model: rates of its own, or those of another.
func modelPrice(t *fields) (p price.Price) {
	if like, ok := t.table["like"]; ok {
		name, _ := like.(string)
		known, ok := (*price.Table)(nil).Find(name, time.Now())
		switch {
		case !ok:
			t.fail("like", message.Error(fmt.Sprintf("%q is not in the price list. See: belay prices", name)))
			return p
		case len(t.table) > 1:
			t.fail("like", message.Error("cannot be combined with other keys, because the price is that of the other model"))
		}
		return *known
	}
	p.Rates = rates(t, "long", "like")
	if t.table["long"] == nil {
		return p
	}
	long := t.tableOf("long", message.MustBeTable("long = { above = 200000, input = 4, output = 15 }"))
	above, ok := long.table["above"].(int64)
	if !ok || above < 1 {
		long.fail("above", message.Error("must be the prompt size in tokens from which these rates apply, such as 200000"))
	}
	p.Long = &price.Long{Above: above, Rates: rates(long, "above")}
	return p
}

// maxRate is a dollar a token, more than any model costs: it is a slip of the pen, and no sum of it would be believed.
const maxRate = 1e6

// rates reads US dollars for a million tokens, in a table that may have other keys too. Those for what is cached are as for other
// input, if they are not there.
func rates(t *fields, others ...string) (r price.Rates) {
	rate := func(key string, missing float64) float64 {
		if _, ok := t.table[key]; !ok {
			t.get(key)
			return missing
		}
		return parsed(t, key, parseRate)
	}
	r.Input, r.Output = rate("input", 0), rate("output", 0)
	r.CacheRead, r.CacheWrite = rate("cache_read", r.Input), rate("cache_write", r.Input)
	r.CacheWriteHour = rate("cache_write_1h", r.CacheWrite)
	for _, key := range others {
		t.get(key)
	}
	t.close()
	for _, key := range []string{"input", "output"} {
		if _, ok := t.table[key]; !ok {
			t.fail(key, message.Error("is missing. Give US dollars per million tokens, such as input = 2.5"))
		}
	}
	return r
}

func parseRate(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || math.IsNaN(n) || n > maxRate {
		return 0, message.Error(fmt.Sprintf("%q is not a price. Give US dollars per million tokens, such as 2.5", text))
	}
	return n, nil
}
