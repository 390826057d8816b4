package gh

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/verdict"
)

// checkLimit is for agent.CallerInfo: GitHub tells, at no cost, how much is left of each window. A secondary limit is
// not among them.
func (p *Profile) checkLimit(ctx context.Context, ask ask) (verdict.Hint, error) {
	out, err := ask(ctx, "api", "--hostname", hostOf(p.line, p.env), "rate_limit")
	if err != nil {
		return verdict.Hint{}, err
	}
	var limits struct {
		Resources map[string]struct {
			Limit, Remaining int
			Reset            int64
		}
	}
	if err := json.Unmarshal(out, &limits); err != nil {
		return verdict.Hint{}, err
	}
	var h verdict.Hint
	for name, window := range limits.Resources {
		if at := time.Unix(window.Reset, 0).UTC(); window.Limit > 0 && window.Remaining == 0 && slices.Contains(p.windows(), name) && at.After(h.At) {
			h.At = at
		}
	}
	return h, nil
}

// windows are the names of the limits that a command counts against.
func (p *Profile) windows() []string {
	switch {
	case p.line.isGraphQL():
		return []string{"graphql"}
	case strings.HasPrefix(p.line.command, "search") || p.line.isAPI() && strings.HasPrefix(strings.TrimPrefix(p.line.endpoint(), "/"), "search/"):
		return []string{"search", "code_search", "graphql"}
	case p.line.isAPI():
		return []string{"core"}
	}
	return []string{"core", "graphql"}
}
