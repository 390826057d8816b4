package engine

import (
	"cmp"
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
)

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
