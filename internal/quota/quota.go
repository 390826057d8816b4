// Package quota is how much of a service's limits is used, as its CLIs tell it on a good day: for each window of an account the share, and when it
// begins anew. A [Quota] is a plain value, kept in the state of the account's gate; what happens to it are functions of the value, the news and
// the time. What was never told is unknown, and so is what was told of a window that is over: nobody waits for that.
package quota

import (
	"cmp"
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
	// Resets is when it begins anew, and Length how long it lasts in all; 0 if that is not known.
	Resets time.Time     `json:"resets"`
	Length time.Duration `json:"length,omitempty"`
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

// lengths are how long the windows last that services name.
var lengths = map[string]time.Duration{"five_hour": 5 * time.Hour, "seven_day": 7 * 24 * time.Hour}

// Name names a window by its length, as all services are named alike; otherwise is for one that is as long as none of these.
func Name(length time.Duration, otherwise string) string {
	for name, l := range lengths {
		if (l - length).Abs() < 2*time.Minute { // which codex had 299 minutes of
			return name
		}
	}
	return otherwise
}

// Length is how long a window of that name lasts, which may go on with that of a model; 0 if the name does not say.
func Length(name string) time.Duration { return lengths[name[:min(len(name), len("five_hour"))]] }

// Known reports whether the window can be what a service has told, its name being one word, and says anything at now: it has not ended, and was not told
// by a clock that was wrong.
func (w *Window) Known(now time.Time) bool {
	word := w.Name != "" && len(w.Name)+len(w.Model) <= 128 && !strings.ContainsFunc(w.Name, func(r rune) bool { return r <= ' ' || r > '~' })
	fresh := w.Length <= 0 || now.Sub(w.Told) <= w.Length
	return word && w.Used >= 0 && w.Used <= 1000 && // which NaN is not
		fresh && now.Before(w.Resets) && w.Resets.Sub(w.Told) <= longest && !now.Before(w.Told.Add(-skew))
}

// Quota is what is known of the windows of one account, by name.
type Quota []Window

// At is what is known at now.
func (q Quota) At(now time.Time) Quota {
	return slices.DeleteFunc(slices.Clone(q), func(w Window) bool { return !w.Known(now) })
}

// age is how old news may be that says the same as what comes now, which is no news then.
const age = time.Minute

// Tell adds, at now, what a run was told at a time, which may be a while ago. News that say when they were told themselves are not newer than that.
func (q Quota) Tell(now, at time.Time, by string, news []Window) Quota {
	known, told := q.At(now), Quota(nil)
	for _, w := range news {
		if w.Told.IsZero() || w.Told.After(at) {
			w.Told = at
		}
		w.By, w.Trail = by, nil
		repeats := func(o Window) bool {
			return o.Name == w.Name && o.Used == w.Used && o.Resets.Equal(w.Resets) && w.Told.Sub(o.Told).Abs() < age
		}
		if !slices.ContainsFunc(known, repeats) {
			told = append(told, w)
		}
	}
	return Merge(known, told.At(now))
}

// Merge brings together what two have been told, in whichever order: of each window the newest news counts.
func Merge(a, b Quota) Quota {
	all := append(slices.Clone(a), b...)
	slices.SortFunc(all, func(x, y Window) int { return cmp.Or(strings.Compare(x.Name, y.Name), -x.compare(&y)) })
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

// compare orders what was told of one window, the newest last. What was told at the same time is ordered by what it says, so that it does not
// matter who tells it first.
func (w *Window) compare(o *Window) int {
	return cmp.Or(w.Told.Compare(o.Told), w.Resets.Compare(o.Resets), cmp.Compare(w.Used, o.Used), strings.Compare(w.By, o.By))
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

// Same reports whether two say the same.
func Same(a, b Quota) bool {
	return slices.EqualFunc(a, b, func(x, y Window) bool {
		return x.Name == y.Name && x.Model == y.Model && x.Length == y.Length && x.Warned == y.Warned && x.compare(&y) == 0 &&
			slices.EqualFunc(x.Trail, y.Trail, func(p, o Point) bool { return p.At.Equal(o.At) && p.Used == o.Used })
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
