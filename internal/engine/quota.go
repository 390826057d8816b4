package engine

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
)

// account is the gate that knows of the limits of the account. Another model of it may be a fallback, with a gate of its own.
func (c *call) account() string {
	if c.traits.gate != "" && strings.HasPrefix(c.gateKey(), c.traits.gate+":") {
		return c.traits.gate
	}
	return c.gateKey()
}

// tellQuota keeps what an agent tells of the limits of its account beside the account's gate, for all to see. What cannot be kept is not known, and
// holds nobody up. ok is false after trouble with the store.
func (c *call) tellQuota(news []quota.Window) (ok bool) {
	key := c.account()
	if len(news) == 0 || key == "" || c.shared == nil {
		return true
	}
	told := clock.Now()
	var fills quota.Quota
	tell := func(s gate.State) gate.State {
		if s.Quota = s.Quota.Tell(clock.Now(), told, c.id, news); c.runner.AlertForecast {
			fills = s.Quota.Warn(told)
		}
		return s
	}
	if err := c.shared.Update(key, told, tell); err != nil && !errors.Is(err, gate.ErrDamaged) {
		return false
	}
	for _, w := range fills {
		c.alertForecast(key, &w, told)
	}
	return true
}

// alertForecast raises an alert for a window that will be full before it resets.
func (c *call) alertForecast(account string, w *quota.Window, now time.Time) {
	_, full, _ := w.Forecast(now)
	text := printable.Line(fmt.Sprintf("%s of %s will be full at about %s if it goes on like this; it resets at %s", w.Name, account,
		message.TimeOfDay(full, now), message.TimeOfDay(w.Resets, now)))
	if c.state != nil && !c.runner.NoRecord {
		log := c.state.Log(nil)
		log.Secrets = c.secrets
		err := log.Append(journal.Entry{Timestamp: journal.Time{Time: now}, Kind: journal.Alert, Event: "forecast", Profile: account, Invocation: c.id,
			Status: journal.Success, Error: text, Parent: c.parent, Name: c.runner.Labels.Name, Tags: c.runner.Labels.Tags, Project: c.project,
			Batch: c.runner.Task.Batch, Task: c.runner.Task.ID, Line: c.runner.Task.Line})
		if err != nil {
			c.live.trouble(err)
		}
	}
	c.emit(belaytype.AlertRaised{Integration: account, Last: text})
}

// filled is the window that is fullest by the news that an agent tells; nil if it tells none.
func (c *call) filled(news []quota.Window) *quota.Window {
	if len(news) == 0 {
		return nil
	}
	now := clock.Now()
	return quota.Quota{}.Tell(now, now, c.id, news).Fullest(now, c.model())
}

// model is the model that the command asks for; empty if that is not known.
func (c *call) model() string {
	if a, ok := c.profile.(agent.Agent); ok && a.Info().Model != nil {
		return a.Info().Model()
	}
	return ""
}
