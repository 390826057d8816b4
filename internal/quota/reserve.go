package quota

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Reserve is the share of windows that nothing new is started for, by their names; that of the empty name is for all others.
type Reserve map[string]float64

// long are the names of windows, by those that people use of them.
var long = map[string]string{"5h": "five_hour", "7d": "seven_day"}

// part is a share, of a window or of all.
var part = regexp.MustCompile(`^(?:(5h|7d|five_hour|seven_day(?:_[a-z]+)*|primary|secondary)=)?(\d{1,2}(?:\.\d+)?)%$`)

// ParseReserve reads "20%", or shares by window: "five_hour=20%,seven_day=10%". 5h and 7d are short for these two.
func ParseReserve(text string) (Reserve, error) {
	r := Reserve{}
	for text := range strings.SplitSeq(text, ",") {
		read := part.FindStringSubmatch(strings.TrimSpace(text))
		if read == nil {
			return nil, fmt.Errorf("%q is not a share of a window; write 0%% to 99%%, such as 20%%, five_hour=20%% or seven_day=10%%", text)
		}
		name := cmp.Or(long[read[1]], read[1])
		percent, _ := strconv.ParseFloat(read[2], 64)
		r[name] = max(r[name], percent/100)
	}
	return r, nil
}

// And keeps of each window what either of two keeps, whichever is more.
func (r Reserve) And(o Reserve) Reserve {
	both := Reserve{}
	for _, from := range []Reserve{r, o} {
		for name := range from {
			both[name] = max(r.of(name), o.of(name))
		}
	}
	return both
}

// of is the share to keep of a window.
func (r Reserve) of(name string) float64 {
	if share, ok := r[name]; ok {
		return share
	}
	return r[""]
}

// Left is the share of a window that may still be used.
func (r Reserve) Left(w *Window) float64 { return 1 - r.of(w.Name) - w.Used }

// Reached is the window of a model that is used beyond its reserve at now, of several the one that ends last; nil if there is none.
func (r Reserve) Reached(q Quota, now time.Time, model string) *Window {
	beyond := func(w *Window) bool { return r.of(w.Name) > 0 && r.Left(w) < -1e-9 }
	return q.last(now, model, beyond, func(a, b Window) int { return a.Resets.Compare(b.Resets) })
}

// Kept is how a reserve ends what it says.
const Kept = " is kept in reserve"

// Say says why nothing is started: "84% of five_hour is used, and 20% is kept in reserve".
func (r Reserve) Say(w *Window) string {
	return fmt.Sprintf("%s of %s is used, and %s", Percent(w.Used), w.Name, Percent(r.of(w.Name))+Kept)
}

// Percent is a share for people. What is far above the limit is not worth its digits.
func Percent(share float64) string { return strconv.FormatFloat(min(share*100, 999), 'f', 0, 64) + "%" }
