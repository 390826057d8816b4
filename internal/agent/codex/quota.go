package codex

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/quota"
)

// windows are the windows of a limit, as it stands in the record since that time: how much of each is used, in percent, and when it resets, in seconds
// since 1970, in older versions from then on. Other limits than that of the plan are for models of their own, and
// have it in their name: their windows are as long as those of the plan.
func windows(limits json.RawMessage, at time.Time) (told quota.Quota) {
	var r struct {
		ID                 string `json:"limit_id"`
		Name               string `json:"limit_name"`
		Primary, Secondary map[string]json.RawMessage
	}
	if agent.Lenient(json.Unmarshal(limits, &r)) != nil {
		return nil
	}
	for i, from := range []map[string]json.RawMessage{r.Primary, r.Secondary} {
		name := quota.Name(agent.Number(from["window_minutes"]), []string{"primary", "secondary"}[i])
		w := quota.Window{Name: name, Used: agent.Number(from["used_percent"]) / 100, Resets: agent.Epoch(agent.Number(from["resets_at"])), Told: at}
		if in := agent.Number(from["resets_in_seconds"]); w.Resets.IsZero() && in >= 0 && in < 1e7 {
			w.Resets = at.Add(time.Duration(in) * time.Second).Truncate(time.Second)
		}
		if r.ID != "" && r.ID != Name {
			w.Name, w.Model = agent.KeyPart(r.ID)+"."+w.Name, strings.ToLower(cmp.Or(r.Name, r.ID))
		}
		if w.Used >= 0 && !w.Resets.IsZero() {
			told = append(told, w)
		}
	}
	return told
}
