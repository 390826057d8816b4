package engine

import (
	"cmp"
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// AskedModel as [Runner.RequireModel] stands for the model that the command line or the environment names, and if neither does, the agent itself at its start.
const AskedModel = "asked"

// Tells is what is known of a command of that profile that works by itself, and so can be held to a limit on that; nothing of any other.
func Tells(p agent.Profile) (info agent.Info) {
	if a, ok := p.(agent.Agent); ok && a.Headless() {
		info = a.Info()
	}
	if info.Unknown != "" {
		info.Model = nil
	}
	return info
}

// unkept is why the command cannot be held to what is asked of it; empty if it can.
func (r *Settings) unkept(name string) string {
	asked := &r.Ceilings
	switch {
	case r.RequireModel != "" && Tells(r.profile()).Model == nil:
		return message.ModelUntold(name)
	case asked.Memory > 0 && !supervise.MemoryLimits():
		return message.MemoryUntold()
	case asked.Repeats > 0 && !Tells(r.profile()).TellsCalls:
		return message.Untold(name, "tool calls")
	case asked.Agents > 0 && !Tells(r.profile()).TellsAgents:
		return message.Untold(name, "sub-agents")
	}
	return ""
}

// models compares the model that works with the one that was asked for, over all attempts of a candidate.
type models struct {
	strict   bool                         // another one ends the attempt
	required string                       // empty means the one that the CLI names at its start
	told     *belaytype.ModelSubstitution // the last one; nil if there was none
}

func newModels(r *Settings, info *agent.Info) *models {
	m := &models{strict: r.RequireModel != "", required: r.RequireModel}
	if m.strict && (m.required == AskedModel || m.required == info.Model()) {
		if m.required = info.Model(); agent.IsModelAlias(m.required) {
			m.required = "" // only the CLI knows which one that is
		}
	}
	return m
}

// compare says which model works in place of which; nil if it is the one that was asked for.
func (m *models) compare(use agent.ModelUse) *belaytype.ModelSubstitution {
	asked, alias := use.Begun, agent.IsModelAlias(m.required) // none, or what is part of many names, such as opus
	use.Used = cmp.Or(use.Used, use.Begun)
	missed := alias && use.Used != "" && !strings.Contains(use.Used, m.required)
	if missed || !alias {
		asked = m.required
	}
	if !missed && !use.Other(asked) {
		return nil
	}
	return &belaytype.ModelSubstitution{Asked: asked, Used: use.Used}
}

// note takes note of a model that works in place of another, and reports whether it is news.
func (m *models) note(other *belaytype.ModelSubstitution) bool {
	if m.told != nil && agent.SameModel(m.told.Used, other.Used) {
		return false
	}
	m.told = other
	return true
}

// otherModel is why an attempt is stopped in which another model works than the one that is required.
func otherModel(name string, other *belaytype.ModelSubstitution, overloaded bool) *earlyStop {
	return &earlyStop{verdict: verdict.Verdict{Class: verdict.WrongModel, Retryable: overloaded, Rule: "require-model", Evidence: message.OtherModel(name, other.Asked, other.Used)}}
}
