package cli

import (
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/quota"
)

// reserveOf is what a run leaves of the limits of its account, by its settings and its budgets. why says that the settings ask for it and it cannot
// be had: a person who works with an agent is who it is kept for.
func reserveOf(s *config.Settings, known agent.Profile, joined []budget.Joined) (keep quota.Reserve, why string) {
	keep = s.Reserve
	for _, j := range joined {
		keep = keep.And(s.BudgetRules[j.Name].Reserve)
	}
	a, isAgent := known.(agent.Agent)
	tells := s.Gate != "" || isAgent && !a.Info().Once
	switch {
	case len(keep) == 0 || tells && !s.NoGate:
		return keep, ""
	case len(s.Reserve) > 0:
		why = "only for agents that work by themselves, and take part in a gate, it is known how much of their limits is used"
	}
	return nil, why
}
