package rehearse

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
)

// Window is a limit of the account. Once a step has named one, every answer of a service that has such limits tells how much of it is used.
type Window struct {
	// Name says how long it is for the service: 5h, 7d.
	Name string
	// Share is how much is used, 1 being all of it. A step that fills adds it to what was used before, and is refused if that is all.
	Share float64
	Fills bool
	// Lasts is when it begins anew, from the first request to it on; 0 means as its name says.
	Lasts  time.Duration
	resets time.Time
}

// length is how long a window is by its name; 0 if that says nothing.
func (w *Window) length() (d time.Duration) {
	if strings.Trim(w.Name, "0123456789") == "" || setDuration(&d, w.Name) != nil || d%time.Minute != 0 {
		return 0
	}
	return d
}

// setWindows reads 5h:42%,7d:17%, each with the time after which it begins anew if that is not what its name says: 5h:42%/10s.
func setWindows(fills bool) func(*Step, string) error {
	return func(s *Step, v string) error {
		for item := range strings.SplitSeq(v, ",") {
			name, use, _ := strings.Cut(item, ":")
			share, lasts, timed := strings.Cut(use, "/")
			w := Window{Name: strings.TrimSpace(name), Fills: fills}
			digits, percent := strings.CutSuffix(share, "%")
			n, err := strconv.ParseFloat(digits, 64)
			if timed && (setDuration(&w.Lasts, lasts) != nil || w.Lasts < time.Second) || !percent || err != nil || !(n >= 0 && n <= 1000) || w.length() == 0 {
				return message.Error(fmt.Sprintf("%q is not a window, such as 5h:42%% or 7d:17%%/10s", strings.TrimSpace(item)))
			}
			w.Share = n / 100
			s.Windows = append(s.Windows, w)
		}
		return nil
	}
}

// use lets a request use the windows that its step names. One that is full refuses it.
func (a *API) use(step Step, label string, now time.Time) (Step, string) {
	for _, w := range step.Windows {
		if of := a.window(w, now); w.Fills && of.Share > 1-1e-9 {
			return Step{UsageLimit: true, Window: w.Name, Plan: step.Plan, Usage: step.Usage, resetsAt: of.resets}, fmt.Sprintf("429 (%s is full)", w.Name)
		}
	}
	for _, w := range step.Windows {
		of := a.window(w, now)
		if !w.Fills {
			of.Share = w.Share
			continue
		}
		of.Share += w.Share
		label += fmt.Sprintf(" (%s at %s%%)", w.Name, decimal(of.Share*100))
	}
	return step, label
}

// window is the account's window of that name, which has begun anew if it was over.
func (a *API) window(w Window, now time.Time) *Window {
	i := slices.IndexFunc(a.windows, func(o Window) bool { return o.Name == w.Name })
	if i < 0 {
		i, a.windows = len(a.windows), append(a.windows, Window{Name: w.Name})
	}
	of := &a.windows[i]
	if !now.Before(of.resets) {
		if of.Share, of.Lasts = 0, w.Lasts; w.Lasts == 0 {
			of.Lasts = w.length()
		}
		of.resets = now.Truncate(time.Second).Add(of.Lasts) // a whole second, as the vendors have it
	}
	return of
}

// used are the account's windows at a time.
func (a *API) used(now time.Time) []Window {
	for _, w := range a.windows {
		a.window(w, now)
	}
	return slices.Clone(a.windows)
}

// anthropicWindows are the headers that tell a subscriber how much is used.
func anthropicWindows(h http.Header, windows []Window) {
	unified(h, "", "Status", "allowed")
	for _, w := range windows {
		unified(h, w.Name, "Status", "allowed")
		unified(h, w.Name, "Utilization", decimal(w.Share))
		unified(h, w.Name, "Reset", strconv.FormatInt(w.resets.Unix(), 10))
	}
}

// anthropicClaim names the window that counts. With an error it would be the one that is used up.
func anthropicClaim(h http.Header, c *call) {
	if c.subscription && len(c.windows) > 0 {
		unified(h, "", "Reset", strconv.FormatInt(c.windows[0].resets.Unix(), 10))
		unified(h, "", "Representative-Claim", claim(c.windows[0].Name))
	}
}

// claim is what Anthropic calls a window outside of its headers.
func claim(window string) string {
	return strings.NewReplacer("5h", "five_hour", "7d", "seven_day").Replace(window)
}

// openaiWindows are the headers that codex reads: of two windows.
func openaiWindows(h http.Header, windows []Window) {
	for i, w := range windows[:min(len(windows), 2)] {
		of := "X-Codex-" + []string{"Primary", "Secondary"}[i]
		h.Set(of+"-Used-Percent", decimal(w.Share*100))
		h.Set(of+"-Window-Minutes", decimal(w.length().Minutes()))
		h.Set(of+"-Reset-At", strconv.FormatInt(w.resets.Unix(), 10))
		h.Set(of+"-Reset-After-Seconds", strconv.Itoa(int(time.Until(w.resets).Seconds())))
	}
}

// decimal is a number without what adding up fractions leaves.
func decimal(n float64) string {
	return strconv.FormatFloat(float64(int64(n*1e6+0.5))/1e6, 'f', -1, 64)
}
