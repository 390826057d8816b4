package transcript

import (
	"cmp"
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/call"
)

// Models compares the model that works with the one that was asked for, over all attempts of a candidate.
type Models struct {
	strict   bool                         // another one ends the attempt
	required string                       // empty means the one that the CLI names at its start
	Told     *belaytype.ModelSubstitution // the last one; nil if there was none
}

// NewModels finds out which model is required.
func NewModels(r *call.Settings, info *agent.Info) *Models {
	m := &Models{strict: r.RequireModel != "", required: r.RequireModel}
	if m.strict && (m.required == call.AskedModel || m.required == info.Model()) {
		if m.required = info.Model(); agent.IsModelAlias(m.required) {
			m.required = "" // only the CLI knows which one that is
		}
	}
	return m
}

// compare says which model works in place of which; nil if it is the one that was asked for.
func (m *Models) compare(use agent.ModelUse) *belaytype.ModelSubstitution {
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
func (m *Models) note(other *belaytype.ModelSubstitution) bool {
	if m.Told != nil && agent.SameModel(m.Told.Used, other.Used) {
		return false
	}
	m.Told = other
	return true
}
