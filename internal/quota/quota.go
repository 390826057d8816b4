// Package quota is how much of a service's limits is used, as its CLIs tell it on a good day: for each window of an account the share, and when it
// begins anew. A [Quota] is a plain value, kept in the state of the account's gate; what happens to it are functions of the value, the news and
// the time. What was never told is unknown, and so is what was told of a window that is over: nobody waits for that.
package quota

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Window is what was told last of one window of an account.
type Window struct {
	// Name says which: five_hour, seven_day, seven_day_opus.
	Name string `json:"name"`
	// Model is part of the name of the models that fall under it; empty if all do.
	Model string `json:"model,omitempty"`
	// Used is the share that is used: 1 is all of it, and more is possible where the service allows that.
	Used float64 `json:"used"`
	// Resets is when it begins anew.
	Resets time.Time `json:"resets"`
	// Told is when this was told, by the run By.
	Told time.Time `json:"told"`
	By   string    `json:"by,omitempty"`
	// Warned says that an alert has been raised for it.
	Warned bool `json:"warned,omitempty"`
	// Trail is what was told of this window before, within the last hour.
	Trail []Point `json:"trail,omitempty"`
}

// Point is a share that was told at a time.
type Point struct {
	At   time.Time `json:"at"`
	Used float64   `json:"used"`
}

const (
	// longest is how far away the end of a window may be: plans begin anew within a month.
	longest = 32 * 24 * time.Hour
	// skew is how far ahead a clock may have been that a time was told by. By more than that, it was wrong.
	skew = 30 * time.Second
	// recent is how much of the past a forecast is made from, and spacing how far apart its points are at least.
	recent  = time.Hour
	spacing = 5 * time.Minute
	// most bounds what is kept of one account.
	most = 16
)

// minutes are how long the windows last that services have in common.
var minutes = map[string]float64{"five_hour": 5 * 60, "seven_day": 7 * 24 * 60}

// Name names a window that lasts so many minutes, as all services are named alike; otherwise is for one that is as long as none of these.
func Name(length float64, otherwise string) string {
	for name, m := range minutes {
		if math.Abs(m-length) < 2 { // which codex had 299 of
			return name
		}
	}
	return otherwise
}

// Known reports whether the window can be what a service has told, its name being one word, and says anything at now: it has not ended, and was not told
// by a clock that was wrong.
func (w *Window) Known(now time.Time) bool {
	word := w.Name != "" && len(w.Name)+len(w.Model) <= 128 && !strings.ContainsFunc(w.Name, func(r rune) bool { return r <= ' ' || r > '~' })
	return word && w.Used >= 0 && w.Used <= 1000 && // which NaN is not
		now.Before(w.Resets) && w.Resets.Sub(w.Told) <= longest && !now.Before(w.Told.Add(-skew))
}

// Quota is what is known of the windows of one account, by name.
type Quota []Window

// At is what is known at now.
func (q Quota) At(now time.Time) Quota {
	return slices.DeleteFunc(slices.Clone(q), func(w Window) bool { return !w.Known(now) })
}

// Tell adds, at now, what a run was told at a time, which may be a while ago. News that say when they were told themselves are not newer than that.
func (q Quota) Tell(now, at time.Time, by string, news []Window) Quota {
	told := slices.Clone(news)
	for i := range told {
		w := &told[i]
		if w.Told.IsZero() || w.Told.After(at) {
			w.Told = at
		}
		w.By, w.Trail = by, nil
	}
	return Merge(q.At(now), Quota(told).At(now))
}

// Merge brings together what two have been told, in whichever order: of each window the newest news counts.
func Merge(a, b Quota) Quota {
	all := append(slices.Clone(a), b...)
	slices.SortFunc(all, func(x, y Window) int { // what was told at the same time by what it says, so that it does not matter who tells it first
		return cmp.Or(strings.Compare(x.Name, y.Name), y.Told.Compare(x.Told), y.Resets.Compare(x.Resets),
			cmp.Compare(y.Used, x.Used), strings.Compare(y.By, x.By))
	})
	var merged Quota
	for _, w := range all {
		if n := len(merged) - 1; n >= 0 && merged[n].Name == w.Name {
			merged[n] = merged[n].after(&w)
		} else if len(merged) < most {
			merged = append(merged, w)
		}
	}
	return merged
}

// after is the window with what was told of it earlier. A window that has begun anew since leaves no trail.
func (w Window) after(earlier *Window) Window {
	if w.Resets.Sub(earlier.Resets).Abs() >= spacing {
		return w
	}
	w.Warned = w.Warned || earlier.Warned
	points := append(slices.Concat(w.Trail, earlier.Trail), Point{earlier.Told, earlier.Used})
	slices.SortFunc(points, func(p, o Point) int { return cmp.Or(p.At.Compare(o.At), cmp.Compare(p.Used, o.Used)) })
	w.Trail = nil
	for _, p := range points {
		old := w.Told.Sub(p.At) > recent || !p.At.Before(w.Told)
		if n := len(w.Trail); !old && (n == 0 || p.At.Sub(w.Trail[n-1].At) >= spacing) {
			w.Trail = append(w.Trail, p)
		}
	}
	return w
}

// age is how old news may be that says the same as what comes now, which is no news then.
const age = time.Minute

// Same reports whether two say the same, at about the same time.
func Same(a, b Quota) bool {
	return slices.EqualFunc(a, b, func(x, y Window) bool {
		return x.Name == y.Name && x.Used == y.Used && x.Warned == y.Warned && x.Resets.Equal(y.Resets) && x.Told.Sub(y.Told).Abs() < age
	})
}

// Shifted is what is known as a clock shows it that is ahead by so much.
func (q Quota) Shifted(by time.Duration) Quota {
	q = slices.Clone(q)
	for i := range q {
		w := &q[i]
		w.Resets, w.Told, w.Trail = w.Resets.Add(by), w.Told.Add(by), slices.Clone(w.Trail)
		for j := range w.Trail {
			w.Trail[j].At = w.Trail[j].At.Add(by)
		}
	}
	return q
}

// Forecast is the share that will be used when the window ends if it goes on as in the last hour, and when it will be full before that, zero if it
// will not. ok is false if too little is known to say.
func (w *Window) Forecast(now time.Time) (share float64, full time.Time, ok bool) {
	from := append(slices.Clone(w.Trail), Point{w.Told, w.Used})[0]
	span := w.Told.Sub(from.At)
	if now.Sub(w.Told) > recent || span < spacing || w.Used < from.Used || from.Used < 0 {
		return 0, full, false
	}
	pace := (w.Used - from.Used) / span.Hours()
	share = w.Used + pace*w.Resets.Sub(w.Told).Hours()
	if share >= 1 && pace > 0 {
		full = w.Told.Add(time.Duration(max(0, 1-w.Used) / pace * float64(time.Hour)))
	}
	return share, full, true
}

// Warn marks, in q, the windows that will be full before they reset, by the forecast at now, and returns those that were not marked before. Of what is used by
// less than half it says nothing: in the first minutes of a window any pace looks too fast.
func (q Quota) Warn(now time.Time) (fresh Quota) {
	for i := range q {
		w := &q[i]
		_, full, _ := w.Forecast(now)
		if !full.IsZero() && !w.Warned && w.Used >= 0.5 && w.Used < 1 && w.Name != "overage" {
			w.Warned = true
			fresh = append(fresh, *w)
		}
	}
	return fresh
}

// counts reports whether calls of a model fall under the window. Of a model that is not known, only what all models fall under counts.
func (w *Window) counts(model string) bool {
	return w.Name != "overage" && (w.Model == "" || strings.Contains(strings.ToLower(model), w.Model))
}

// last is the last of the windows of a model that are as they are asked for at now; nil if none is.
func (q Quota) last(now time.Time, model string, asked func(*Window) bool, order func(a, b Window) int) *Window {
	list := slices.DeleteFunc(q.At(now), func(w Window) bool { return !w.counts(model) || !asked(&w) })
	if len(list) == 0 {
		return nil
	}
	return new(slices.MaxFunc(list, order))
}

// Fullest is the window of a model of which most is used at now; nil if none is known.
func (q Quota) Fullest(now time.Time, model string) *Window {
	return q.last(now, model, func(*Window) bool { return true }, func(a, b Window) int { return cmp.Compare(a.Used, b.Used) })
}
