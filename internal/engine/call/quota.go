package call

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/verdict"
)

// Account is the gate that knows of the limits of the account. Another model of it may be a fallback, with a gate of its own.
func (c *Call) Account() string {
	if c.Traits.Gate != "" && strings.HasPrefix(c.GateKey(), c.Traits.Gate+":") {
		return c.Traits.Gate
	}
	return c.GateKey()
}

// TellQuota keeps what an agent tells of the limits of its account beside the account's gate, for all to see, and returns what is known of them then. Where
// it is to be told to this process alone, or the store has trouble with it, that is what the agent tells; nothing waits for it.
func (c *Call) TellQuota(news []quota.Window, alone bool) (known quota.Quota, trouble bool) {
	key, told := c.Account(), clock.Now()
	known = known.Tell(told, told, c.ID, news)
	if alone || key == "" || c.Shared == nil {
		return known, alone
	}
	var fills quota.Quota
	err := c.Shared.Update(key, told, func(s gate.State) gate.State {
		if s.Quota = s.Quota.Tell(clock.Now(), told, c.ID, news); c.Settings.Alert.Forecast {
			fills = s.Quota.Warn(told)
		}
		known = s.Quota
		return s
	})
	if err != nil && !errors.Is(err, gate.ErrDamaged) {
		return known, true
	}
	for _, w := range fills {
		c.alertForecast(key, &w, told)
	}
	return known, false
}

// alertForecast raises an alert for a window that will be full before it resets.
func (c *Call) alertForecast(account string, w *quota.Window, now time.Time) {
	_, full, _ := w.Forecast(now)
	e := c.Entry()
	e.Kind, e.Event, e.Profile = journal.Alert, "forecast", account
	e.Error = printable.Line(fmt.Sprintf("%s of %s will be full at about %s if it goes on like this; it resets at %s", w.Name, account,
		message.TimeOfDay(full, now), message.TimeOfDay(w.Resets, now)))
	c.Append(e)
	c.Emit(belaytype.AlertRaised{Integration: account, Last: e.Error})
}

// Model is the model that the command asks for; empty if that is not known.
func (c *Call) Model() string {
	if a, ok := c.Profile.(agent.Agent); ok && a.Info().Model != nil {
		return a.Info().Model()
	}
	return ""
}

// Report tells [Settings.Follow] what an agent does.
func (c *Call) Report(info agent.LineInfo, used verdict.Usage) {
	if c.Settings.Follow == nil {
		return
	}
	a := Activity{Doing: info.Activity.Doing, Tool: info.Activity.Tool, Delivered: info.Delivered, Waiting: info.Waiting && c.Traits.Kind == AgentConversation,
		Used: used, Filled: quota.Quota(info.Quota).Fullest(clock.Now(), c.Model()), argument: info.Activity.Argument, secrets: c.Secrets}
	if r := info.Retrying; r != nil {
		if a.Retrying = true; r.Wait > 0 {
			a.Until = time.Now().Add(r.Wait)
		}
	}
	if c.Traits.ShowsWork {
		for _, step := range []agent.Activity{{Doing: agent.Writing, Argument: info.Said}, info.Begun} {
			if step.Tool != "" || step.Argument != "" {
				c.Settings.Follow(Activity{Doing: step.Doing, Tool: step.Tool, Begun: true, Used: used, Filled: a.Filled, argument: step.Argument, secrets: c.Secrets})
			}
		}
	}
	c.Settings.Follow(a)
}
