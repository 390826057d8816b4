// Package budget keeps what all processes of a user have spent on models, and says when that is too much.
//
// A [Book] is one limit and what was spent of it: a budget that users name, with a limit a day, week or month, or what a
// run may cost with all that runs inside it. It is one small file in the state directory. [Book.Check] asks how it stands,
// [Book.Charge] adds to it.
//
// A file has two lines. The first has the sums by the day, and is all that a check reads; the second says who has spent
// them.
package budget

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Terms are what a budget allows.
type Terms struct {
	// Limit is how much may be spent in a window, in US dollars; 0 means that it only counts.
	Limit  float64 `json:"limit,omitempty"`
	Window Window  `json:"window,omitempty"`
	// Strict also refuses what is spent after something whose cost is not known.
	Strict bool `json:"strict,omitempty"`
}

// valid reports whether the terms can be those of a book.
func (t Terms) valid() bool {
	return t.Limit >= 0 && (t.Window == "" || slices.Contains(Windows, t.Window))
}

// Standing is how a book stands at some time.
type Standing struct {
	Terms
	// Spent is what was spent in the present window, in US dollars; Unknown is how many attempts there were whose cost is not
	// known.
	Spent   float64
	Unknown int
	// Ends is when the window ends; zero if it never does.
	Ends time.Time
}

// Reached reports whether the limit is used up.
func (s *Standing) Reached() bool { return s.Limit > 0 && s.Spent >= s.Limit-dust }

// Closed reports whether nothing more may be spent.
func (s *Standing) Closed() bool { return s.Reached() || s.Strict && s.Unknown > 0 }

// Low reports whether at least 80 % of the limit are used up.
func (s *Standing) Low() bool { return s.Limit > 0 && s.Spent >= 0.8*s.Limit-dust }

// Left is how much of the limit is left; 0 if there is no limit.
func (s *Standing) Left() float64 { return rounded(max(s.Limit-s.Spent, 0)) }

// dust is less than any price: sums of floating-point numbers are not exact.
const dust = 1e-9

func rounded(usd float64) float64 { return math.Round(usd*1e9) / 1e9 }

// Spender is who spends: a profile's command, in the project that it runs in, with the name that the run was given.
type Spender struct {
	Profile string `json:"profile,omitempty"`
	Project string `json:"project,omitempty"`
	Name    string `json:"name,omitempty"`
}

// Others stands for the spenders of a day that are too many to be told apart.
var Others = Spender{Profile: "others"}

// Share is what one spender has spent.
type Share struct {
	Spender
	Spent   float64 `json:"spent"`
	Unknown int     `json:"unknown,omitempty"`
}

// Charge is an amount that is put into a book.
type Charge struct {
	Spender Spender
	// USD is the amount. It is negative where an earlier charge turns out to have been too much.
	USD float64
	// Unknown is how many attempts are new whose cost is not known; negative where it has become known after all.
	Unknown int
}

// amount is what was spent on one day: by all, or by one spender.
type amount struct {
	Day     string  `json:"day,omitempty"`
	USD     float64 `json:"usd,omitempty"`
	Unknown int     `json:"unknown,omitempty"`
}

func (a *amount) add(c Charge) {
	// A correction can be greater than what there is: the charge was made on the day before, or the book has begun anew since.
	a.USD = rounded(max(a.USD+c.USD, 0))
	a.Unknown = max(a.Unknown+c.Unknown, 0)
}

// share is what one spender has spent on one day.
type share struct {
	Spender
	amount
}

// content is what is in a file.
type content struct {
	head
	By []share
}

// head is the first line of a file. The name is there because the file's name may be a digest of it.
type head struct {
	Version int    `json:"v"`
	Name    string `json:"name"`
	Terms   Terms  `json:"terms"`
	Days    days   `json:"days,omitzero"`
}

// days are the sums of days. They are written as one text, which takes a quarter of the time to read: "2026-11-16 1.25 0".
type days []amount

// IsZero says that there are none, for the encoder.
func (d days) IsZero() bool { return len(d) == 0 }

// MarshalText implements [encoding.TextMarshaler].
func (d days) MarshalText() (text []byte, err error) {
	for i, a := range d {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, a.Day...)
		text = strconv.AppendFloat(append(text, ' '), a.USD, 'f', -1, 64)
		text = strconv.AppendInt(append(text, ' '), int64(a.Unknown), 10)
	}
	return text, nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *days) UnmarshalText(text []byte) error {
	list := make(days, 0, 40)
	for one := range strings.SplitSeq(string(text), ",") {
		day, rest, _ := strings.Cut(one, " ")
		usd, unknown, _ := strings.Cut(rest, " ")
		sum, err := strconv.ParseFloat(usd, 64)
		n, nerr := strconv.Atoi(unknown)
		if err != nil || nerr != nil || math.IsNaN(sum) || math.IsInf(sum, 0) || sum < 0 || n < 0 {
			return fmt.Errorf("%q is not a sum of a day", one)
		}
		list = append(list, amount{day, sum, n})
	}
	*d = list
	return nil
}

const (
	// maxShares is how many spenders of a day are told apart.
	maxShares = 50
	// keptDays is for how many days before and after today amounts are kept: as long as a month lasts, and for clocks that
	// were set.
	keptDays = 40
)

// dayOf is the entry of now's date; a book without a window has one for all times.
func (w Window) dayOf(now time.Time) string {
	if w == "" {
		return ""
	}
	return dateOf(now).Format(time.DateOnly)
}

// standing is how a book with these terms stands.
func (h *head) standing(terms Terms, now time.Time) Standing {
	s := Standing{Terms: terms, Ends: terms.Window.Ends(now)}
	first, next := terms.Window.days(now)
	for _, a := range h.Days {
		if a.Day >= first && a.Day < next {
			s.Spent += a.USD
			s.Unknown += a.Unknown
		}
	}
	s.Spent = rounded(s.Spent)
	return s
}

// charge adds a charge to the day and to the spender.
func (c *content) charge(w Window, now time.Time, charge Charge) {
	if math.IsNaN(charge.USD) || math.IsInf(charge.USD, 0) { // no file could hold it
		charge.USD = 0
	}
	day := w.dayOf(now)
	c.forget(w, now)
	c.on(day).add(charge)
	who := charge.Spender
	find := func() int {
		return slices.IndexFunc(c.By, func(s share) bool { return s.Day == day && s.Spender == who })
	}
	at := find()
	if at < 0 && c.spenders(day) >= maxShares {
		who = Others
		at = find()
	}
	if at < 0 {
		at = len(c.By)
		c.By = append(c.By, share{who, amount{Day: day}})
	}
	c.By[at].add(charge)
}

// on is the sum of a day.
func (c *content) on(day string) *amount {
	at := slices.IndexFunc(c.Days, func(a amount) bool { return a.Day == day })
	if at < 0 {
		at = len(c.Days)
		c.Days = append(c.Days, amount{Day: day})
	}
	return &c.Days[at]
}

// spenders is how many there are of a day.
func (c *content) spenders(day string) (n int) {
	for i := range c.By {
		if c.By[i].Day == day {
			n++
		}
	}
	return n
}

// forget drops the days that no window has any more.
func (c *content) forget(w Window, now time.Time) {
	if w == "" {
		return
	}
	first, last := dateOf(now).AddDate(0, 0, -keptDays).Format(time.DateOnly), dateOf(now).AddDate(0, 0, keptDays).Format(time.DateOnly)
	old := func(day string) bool { return day < first || day > last }
	c.Days = slices.DeleteFunc(c.Days, func(a amount) bool { return old(a.Day) })
	c.By = slices.DeleteFunc(c.By, func(s share) bool { return old(s.Day) })
}

// shares is what each has spent in the window that now is in, the most first.
func (c *content) shares(w Window, now time.Time) []Share {
	first, next := w.days(now)
	var list []Share
	for _, s := range c.By {
		if s.Day < first || s.Day >= next {
			continue
		}
		at := slices.IndexFunc(list, func(other Share) bool { return other.Spender == s.Spender })
		if at < 0 {
			at = len(list)
			list = append(list, Share{Spender: s.Spender})
		}
		list[at].Spent = rounded(list[at].Spent + s.USD)
		list[at].Unknown += s.Unknown
	}
	slices.SortStableFunc(list, func(a, b Share) int { return cmp.Compare(b.Spent, a.Spent) })
	return list
}

type aroundKey struct{}

// Around returns a context whose runs are charged to a book together: those of a batch, say.
func Around(ctx context.Context, book *Book) context.Context {
	return context.WithValue(ctx, aroundKey{}, book)
}

// Of is the book that all runs in a context are charged to; nil if there is none.
func Of(ctx context.Context) *Book {
	book, _ := ctx.Value(aroundKey{}).(*Book)
	return book
}
