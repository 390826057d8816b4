package quota

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Reserve is the share of windows that nothing new is started for, by their names; that of the empty name is for all others.
type Reserve map[string]float64

var windowName = regexp.MustCompile(`^(five_hour|seven_day(_[a-z]+)*|[0-9]+[mhd])$`)

// ParseReserve reads "20%", or shares by window: "five_hour=20%,seven_day=10%". 5h and 7d are short for these two.
func ParseReserve(text string) (Reserve, error) {
	r := Reserve{}
	for part := range strings.SplitSeq(text, ",") {
		name, share, named := strings.Cut(strings.TrimSpace(part), "=")
		if !named {
			name, share = "", name
		} else if name = Name(lengthOf(name)); name == "0m" {
			name, _, _ = strings.Cut(strings.TrimSpace(part), "=")
		}
		number, percent := strings.CutSuffix(share, "%")
		n, err := strconv.ParseFloat(number, 64)
		_, twice := r[name]
		switch {
		case named && !windowName.MatchString(name):
			return nil, fmt.Errorf("%q is not a window; write five_hour=20%%, seven_day=10%%, or 20%% for all of them", name)
		case err != nil || !percent || !(n >= 0 && n < 100):
			return nil, fmt.Errorf("%q is not a share; write a percentage from 0%% to 99%%, such as 20%%", share)
		case twice:
			return nil, fmt.Errorf("%q says twice how much to keep", text)
		}
		r[name] = n / 100
	}
	return r, nil
}

// lengthOf is the length that a name such as 5h or 7d says; 0 if it says none.
func lengthOf(name string) time.Duration {
	days, ok := strings.CutSuffix(name, "d")
	if n, err := strconv.Atoi(days); ok && err == nil && n > 0 && n < 1000 {
		return time.Duration(n) * 24 * time.Hour
	}
	d, err := time.ParseDuration(name)
	if err != nil || d < time.Minute || !windowName.MatchString(name) {
		return 0
	}
	return d
}

// of is the share to keep of a window.
func (r Reserve) of(name string) float64 {
	if share, ok := r[name]; ok {
		return share
	}
	return r[""]
}

// Reached is the window of a model that is used beyond its reserve at now, of several the one that ends last; nil if there is none.
func (r Reserve) Reached(q Quota, now time.Time, model string) *Window {
	var last *Window
	for _, w := range q.At(now) {
		keep := r.of(w.Name)
		if keep > 0 && w.counts(model) && w.Used > 1-keep+1e-9 && (last == nil || w.Resets.After(last.Resets)) {
			last = &w
		}
	}
	return last
}

// Say says why nothing is started: "84 % of five_hour are used, and 20 % are kept".
func (r Reserve) Say(w *Window) string {
	return fmt.Sprintf("%s of %s is used, and %s is kept in reserve", Percent(w.Used), w.Name, Percent(r.of(w.Name)))
}

// Percent is a share for people.
func Percent(share float64) string { return strconv.FormatFloat(share*100, 'f', 0, 64) + "%" }
