// Package price says what a call to a model costs, where the CLI that made it tells only how many tokens it used.
//
// The prices are those of the vendors' public lists, in prices.toml, which names its sources and the day on which they were
// compared. They are in US dollars, for the standard tier of the vendor's own service; what a user pays otherwise is for the
// user's own file to say ([New]). A model that is in neither has no price: the cost stays unknown, and is not guessed.
//
// Nothing is read before the first price is asked for: most commands never need one.
package price

import (
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Call is what one call to a model has used. Each token is counted once: Input has neither those that were read from a cache
// nor those written to it.
type Call struct {
	Input, Output, CacheRead int64
	// CacheWrite are the tokens that are kept for a few minutes, CacheWriteHour those kept for an hour.
	CacheWrite, CacheWriteHour int64
	// Searches is how often the service has searched the web.
	Searches int64
	// Fast says that the call was made in the vendor's fast mode, Regional that it was bound to one region.
	Fast, Regional bool
	// Sum says that these are the tokens of several calls. None of them is taken for one with a long prompt.
	Sum bool
}

// prompt is how many tokens the model has read.
func (c Call) prompt() int64 { return c.Input + c.CacheRead + c.CacheWrite + c.CacheWriteHour }

// Rates are US dollars for a million tokens.
type Rates struct {
	Input          float64 `toml:"input" json:"input"`
	Output         float64 `toml:"output" json:"output"`
	CacheRead      float64 `toml:"cache_read" json:"cache_read"`
	CacheWrite     float64 `toml:"cache_write" json:"cache_write"`
	CacheWriteHour float64 `toml:"cache_write_1h" json:"cache_write_1h"`
}

func (r Rates) cost(c Call) float64 {
	million := float64(c.Input)*r.Input + float64(c.Output)*r.Output + float64(c.CacheRead)*r.CacheRead +
		float64(c.CacheWrite)*r.CacheWrite + float64(c.CacheWriteHour)*r.CacheWriteHour
	return million / 1e6
}

// Price is what one model costs.
type Price struct {
	Rates
	// Long are the rates of a call whose prompt has more than Above tokens; nil if there are no others.
	Long *Long `toml:"long" json:"long,omitempty"`
	// Fast are the rates of the fast mode; nil if there is none.
	Fast *Rates `toml:"fast" json:"fast,omitempty"`
	// Regional is the factor for calls that are bound to a region; 0 means 1.
	Regional float64 `toml:"regional" json:"regional,omitempty"`
	// Search is what one search of the web costs.
	Search float64 `toml:"search" json:"search,omitempty"`
}

// Long are the rates of a call with a long prompt. They hold for all of its tokens.
type Long struct {
	Above int64 `toml:"above" json:"above"`
	Rates
}

// cost is what a call costs; ok is false if there is no price for it.
func (p *Price) cost(c Call) (usd float64, ok bool) {
	rates := p.Rates
	switch {
	case c.Fast && p.Fast == nil:
		return 0, false
	case c.Fast:
		rates = *p.Fast
	case p.Long != nil && !c.Sum && c.prompt() > p.Long.Above:
		rates = p.Long.Rates
	}
	usd = rates.cost(c)
	if c.Regional && p.Regional > 0 {
		usd *= p.Regional
	}
	return usd + float64(c.Searches)*p.Search, true
}

// Table is the price list: what is built in, and over that the user's own prices. A nil table has only what is built in.
type Table struct {
	own   map[string]Price
	names map[string]string // those of own, by how they read in lower case
}

// New returns the table with the user's own prices by model.
func New(own map[string]Price) *Table {
	t := &Table{own: own, names: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		t.names[strings.ToLower(name)] = name
	}
	return t
}

// Cost is what a call to a model costs on a day; ok is false if that is not known.
func (t *Table) Cost(model string, day time.Time, c Call) (usd float64, ok bool) {
	if p, ok := t.Find(model, day); ok {
		return p.cost(c)
	}
	return 0, false
}

// Own are the user's own prices by model, in the order of their names.
func (t *Table) Own() iter.Seq2[string, Price] {
	return func(yield func(string, Price) bool) {
		if t == nil {
			return
		}
		for _, model := range slices.Sorted(maps.Keys(t.own)) {
			if !yield(model, t.own[model]) {
				return
			}
		}
	}
}

// OwnName is the name by which the user's own prices have a model; empty if they do not have it.
func (t *Table) OwnName(model string) string {
	if t == nil {
		return ""
	}
	for _, name := range spellings(model) {
		if _, ok := t.own[name]; ok {
			return name
		}
		if own, ok := t.names[name]; ok {
			return own
		}
	}
	return ""
}

// Find is the price of a model on a day; ok is false if there is none.
func (t *Table) Find(model string, day time.Time) (p *Price, ok bool) {
	if name := t.OwnName(model); name != "" {
		own := t.own[name]
		return &own, true
	}
	list := builtIn()
	for _, name := range spellings(model) {
		if row := list.row(name, day); row != nil {
			return &row.Price, true
		}
	}
	return nil, false
}

// maxCost is the largest cost that is believed, in dollars. It is far below what a sum can hold.
const maxCost = 1e9

// Credible returns nil instead of a cost that cannot be one: not a number, negative or beyond all measure. A CLI may say
// anything, and one such number would spoil every sum that it is added to.
func Credible(cost *float64) *float64 {
	if cost != nil && *cost >= 0 && *cost <= maxCost { // NaN is neither
		return cost
	}
	return nil
}

// additions are what services add to a vendor's own name for a model, in the order in which they are taken off. They are
// compiled when the first price is needed.
var additions = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`\[\w+\]$`),                                       // the context that was asked for: [1m]
		regexp.MustCompile(`^(?:[a-z-]+\.)?anthropic\.|^(?:[a-z0-9._-]+/)+`), // the vendor: us.anthropic. of Bedrock, openai/ of gateways, models/ of Google
		regexp.MustCompile(`-v\d+(?::\d+)?(?::\w+)?$`),                       // Bedrock's version: -v1:0
		regexp.MustCompile(`[-@](?:20\d{6}|20\d\d-\d\d-\d\d)$`),              // the day of the release, which price lists do not have
		regexp.MustCompile(`[-@]latest$`),
	}
})

// spellings are the names under which a model may be in a price list, the one that was given first. Only what is known to
// mean the same model is taken off: a name that merely begins like another is another model.
func spellings(model string) []string {
	names := []string{model}
	name := strings.ToLower(strings.TrimSpace(model))
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	add(name)
	for _, addition := range additions() {
		name = addition.ReplaceAllString(name, "")
		add(name)
	}
	return names
}
