package rehearse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
)

// Window is a limit of the account. Once a step has named one, every answer of a service that has such limits tells how much of it is used.
type Window struct {
	// Name says how long it is for the service: 5h, 7d. That is its Length.
	Name   string
	Length time.Duration
	// Share is how much is used, 1 being all of it. A step that fills adds it to what was used before, and is refused if that is all.
	Share float64
	Fills bool
	// Lasts is when it begins anew, from the first request to it on.
	Lasts  time.Duration
	resets time.Time
}

// setWindow reads 5h:42%, with the time after which it begins anew if that is not what its name says: 5h:42%/10s.
func setWindow(fills bool) func(*Step, string) error {
	return func(s *Step, v string) error {
		name, use, _ := strings.Cut(v, ":")
		share, lasts, timed := strings.Cut(use, "/")
		if !timed {
			lasts = name
		}
		w := Window{Name: name, Fills: fills}
		err := cmp.Or(setDuration(&w.Length, name), setDuration(&w.Lasts, lasts), setPercent(&w.Share, share, 1000))
		if err != nil || w.Length%time.Minute != 0 || min(w.Length, w.Lasts) < time.Second {
			return message.Error(fmt.Sprintf("%q is not a window, such as 5h:42%% or 7d:17%%/10s", v))
		}
		s.Windows = append(s.Windows, w)
		return nil
	}
}

// use lets a request use the windows that its step names. One that is full refuses it.
func (a *API) use(step Step, label string, now time.Time) (Step, string) {
	for _, w := range step.Windows {
		if of := a.window(w, now); w.Fills && of.Share > 1-1e-9 {
			return Step{UsageLimit: true, Window: w.Name, Plan: step.Plan, Usage: step.Usage, Resets: of.resets.Sub(now)}, fmt.Sprintf("429 (%s is full)", w.Name)
		}
	}
	for _, w := range step.Windows {
		of := a.window(w, now)
		if !w.Fills {
			of.Share = w.Share
			continue
		}
		of.Share += w.Share
		label += fmt.Sprintf(" (%s at %.6g%%)", w.Name, of.Share*100)
	}
	return step, label
}

// window is the account's window of that name, which has begun anew if it was over.
func (a *API) window(w Window, now time.Time) *Window {
	i := slices.IndexFunc(a.windows, func(o Window) bool { return o.Name == w.Name })
	if i < 0 {
		i, a.windows = len(a.windows), append(a.windows, Window{Name: w.Name})
	}
	if of := &a.windows[i]; !now.Before(of.resets) {
		*of = w
		of.Share, of.resets = 0, now.Truncate(time.Second).Add(w.Lasts) // a whole second, as the vendors have it
	}
	return &a.windows[i]
}

// used are the account's windows now.
func (a *API) used() []Window {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.windows {
		a.window(w, time.Now())
	}
	return slices.Clone(a.windows)
}
