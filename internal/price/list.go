package price

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"
)

//go:embed prices.toml
var pricesTOML string

// list is a price list.
type list struct {
	Checked toml.LocalDate `toml:"checked"`
	Vendors []vendor       `toml:"vendor"`
	rows    map[string][]*Row
}

// vendor is a seller of models with its rows.
type vendor struct {
	Name     string  `toml:"name"`
	Source   string  `toml:"source"`
	Search   float64 `toml:"search"`   // of all its models
	Regional float64 `toml:"regional"` // of all its models
	Models   []*Row  `toml:"model"`
}

// Row is a model's price from a day on.
type Row struct {
	Model   string          `toml:"name"`
	Aliases []string        `toml:"aliases"`
	From    *toml.LocalDate `toml:"from"` // nil if it always was
	Vendor  string          `toml:"-"`
	Source  string          `toml:"-"` // where the vendor publishes it
	Price
}

// Rows are the rows of the list that is built in, and the day on which they were compared with their sources.
func Rows() (rows []*Row, checked time.Time) {
	l := builtIn()
	for _, v := range l.Vendors {
		rows = append(rows, v.Models...)
	}
	return rows, l.Checked.AsTime(time.UTC)
}

// Holds reports whether the price is the one in force on a day.
func (r *Row) Holds(day time.Time) bool { return builtIn().row(r.Model, day) == r }

// IsOf reports whether the price is one of the model, by any of its names.
func (r *Row) IsOf(model string) bool {
	return slices.ContainsFunc(spellings(model), func(name string) bool {
		return name == r.Model || slices.Contains(r.Aliases, name)
	})
}

// builtIn is the list that comes with the program. It is read when it is needed first.
var builtIn = sync.OnceValue(func() *list {
	l, err := parse(pricesTOML)
	if err != nil {
		panic("prices.toml: " + err.Error()) // the tests read it
	}
	return l
})

func parse(text string) (*list, error) {
	l := &list{rows: map[string][]*Row{}}
	if err := toml.Unmarshal([]byte(text), l); err != nil {
		return nil, err
	}
	for _, v := range l.Vendors {
		for _, row := range v.Models {
			if row.Model == "" {
				return nil, fmt.Errorf("a model of %s has no name", v.Name)
			}
			row.Vendor, row.Source, row.Search, row.Regional = v.Name, v.Source, v.Search, v.Regional
			row.Rates.fill()
			if row.Long != nil {
				row.Long.Rates.fill()
			}
			for _, name := range append([]string{row.Model}, row.Aliases...) {
				l.rows[name] = append(l.rows[name], row)
			}
		}
	}
	for _, rows := range l.rows {
		slices.SortStableFunc(rows, func(a, b *Row) int { return a.Begins().Compare(b.Begins()) })
	}
	return l, nil
}

// fill fills in what a vendor charges nothing extra for: what is kept in a cache is input as any other.
func (r *Rates) fill() {
	r.CacheRead = cmp.Or(r.CacheRead, r.Input)
	r.CacheWrite = cmp.Or(r.CacheWrite, r.Input)
	r.CacheWriteHour = cmp.Or(r.CacheWriteHour, r.CacheWrite)
}

// Begins is the day from which on the price holds; the zero time if it always has.
func (r *Row) Begins() time.Time {
	if r.From == nil {
		return time.Time{}
	}
	return r.From.AsTime(time.UTC)
}

// row is the price of a model on a day; nil if it has none.
func (l *list) row(model string, day time.Time) *Row {
	var found *Row
	for _, row := range l.rows[model] {
		if !row.Begins().After(day) {
			found = row
		}
	}
	return found
}
