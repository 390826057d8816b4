package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/price"
)

// prices reads the table [prices] of the user's file: what models cost, over the list that is built in. The key of what is
// wrong is returned beside the error.
func prices(v any) (own map[string]price.Price, key string, err error) {
	const example = `[prices."my-model"]`
	table, ok := v.(map[string]any)
	if !ok {
		return nil, "prices", message.Error(message.MustBeTable(example))
	}
	own = map[string]price.Price{}
	for model, value := range table {
		key := "prices." + model
		if strings.TrimSpace(model) == "" {
			return nil, key, message.Error("has no name; write " + example)
		}
		fields, ok := value.(map[string]any)
		if !ok {
			return nil, key, message.Error(message.Sentences(message.MustBeTable(example), "put a name that contains a dot in quotes"))
		}
		p, wrong, err := modelPrice(fields)
		if err != nil {
			return nil, strings.TrimSuffix(key+"."+wrong, "."), err
		}
		own[model] = p
	}
	return own, "", nil
}

// modelPrice is the price of one model: rates of its own, or those of another.
func modelPrice(fields map[string]any) (p price.Price, wrong string, err error) {
	if like, ok := fields["like"]; ok {
		name, _ := like.(string)
		known, ok := (*price.Table)(nil).Find(name, time.Now())
		switch {
		case !ok:
			return p, "like", message.Error(fmt.Sprintf("%q is not in the price list. See: belay prices", name))
		case len(fields) > 1:
			return p, "like", message.Error("cannot be combined with other keys, because the price is that of the other model")
		}
		return *known, "", nil
	}
	if p.Rates, wrong, err = rates(fields, "long"); err != nil {
		return p, wrong, err
	}
	long, ok := fields["long"]
	if !ok {
		return p, "", nil
	}
	inner, ok := long.(map[string]any)
	if !ok {
		return p, "long", message.Error(message.MustBeTable("long = { above = 200000, input = 4, output = 15 }"))
	}
	above, ok := inner["above"].(int64)
	if !ok || above < 1 {
		return p, "long.above", message.Error("must be the prompt size in tokens from which these rates apply, such as 200000")
	}
	p.Long = &price.Long{Above: above}
	p.Long.Rates, wrong, err = rates(inner, "above")
	return p, "long." + wrong, err
}

// maxRate is a dollar a token, more than any model costs: it is a slip of the pen, and no sum of it would be believed.
const maxRate = 1e6

// rates reads US dollars for a million tokens. Those for what is cached are as for other input, if they are not there.
func rates(fields map[string]any, other string) (r price.Rates, wrong string, err error) {
	into := map[string]*float64{"input": &r.Input, "output": &r.Output, "cache_read": &r.CacheRead, "cache_write": &r.CacheWrite,
		"cache_write_1h": &r.CacheWriteHour}
	for name, value := range fields {
		if name == other {
			continue
		}
		to, ok := into[name]
		if !ok {
			return r, name, message.Error(message.UnknownKey("input", "output", "cache_read", "cache_write", "cache_write_1h", "long", "like"))
		}
		text, err := flat(value)
		if err != nil {
			return r, name, err
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n < 0 || math.IsNaN(n) || n > maxRate {
			return r, name, message.Error(fmt.Sprintf("%q is not a price. Give US dollars per million tokens, such as 2.5", text))
		}
		*to = n
	}
	for _, name := range []string{"input", "output"} {
		if _, ok := fields[name]; !ok {
			return r, name, message.Error("is missing. Give US dollars per million tokens, such as input = 2.5")
		}
	}
	for _, name := range []string{"cache_read", "cache_write", "cache_write_1h"} {
		if _, ok := fields[name]; ok {
			continue
		}
		if *into[name] = r.Input; name == "cache_write_1h" {
			r.CacheWriteHour = r.CacheWrite
		}
	}
	return r, "", nil
}

// Prices are the user's own, from the user's file alone.
func Prices() (*price.Table, error) {
	f, err := readUser()
	if err != nil || f == nil || len(f.prices) == 0 {
		return nil, err
	}
	return price.New(f.prices), nil
}
