package claude

import (
	"cmp"
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/quota"
)

// rateLimit is what an event tells of the limits of a plan: its status, of a warning or a refusal the window that it is for, and, in 2.1.325, how
// much of each window is used. What is not told is unknown.
type rateLimit struct {
	window
	Type    string            `json:"rateLimitType"`
	Windows map[string]window `json:"unifiedWindows"`
}

// window is how much of one is used, as a fraction, and when it resets, in seconds since 1970. The status of one of several counts for itself only.
type window struct {
	Utilization json.RawMessage `json:"utilization"`
	ResetsAt    float64         `json:"resetsAt"`
	Status      string          `json:"status"`
}

// resets reports whether it is the limit of a plan, which has a time at which it ends. A throttle has none.
func (r rateLimit) resets() bool { return !agent.Epoch(r.ResetsAt).IsZero() && r.Type != "" }

// resetTime is when a limit ends that has such a time.
func (r rateLimit) resetTime() time.Time { return agent.Epoch(r.ResetsAt) }

// windows are those of which the event says how much is used. Where requests are refused, that is all of the window that it names, unless that says
// itself that it allows them: then it was a throttle. A window that is marked as rejected need not mean that requests are.
func (r rateLimit) windows() (told []quota.Window) {
	all := map[string]window{r.Type: r.window}
	maps.Copy(all, r.Windows)
	for name, w := range all {
		used := agent.Number(w.Utilization)
		if name == r.Type && r.Status == "rejected" && w.Status != "allowed" {
			w.ResetsAt, used = cmp.Or(w.ResetsAt, r.ResetsAt), max(used, 1)
		}
		model, _ := strings.CutPrefix(name, "seven_day_")
		if model == name || strings.Contains(model, "_") { // seven_day_overage_included
			model = ""
		}
		if resets := agent.Epoch(w.ResetsAt); used >= 0 && !resets.IsZero() {
			told = append(told, quota.Window{Name: name, Model: model, Used: used, Resets: resets})
		}
	}
	return told
}
