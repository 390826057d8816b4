package setup

import (
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/supervise"
)

// setCeilings holds the runner to the limits that the settings ask for, as far as the command tells what they need. What is left out, [IdleFlags] says.
func setCeilings(s *config.Settings, r *engine.Runner, known agent.Profile) {
	r.Ceilings = engine.Ceilings{Memory: s.MaxMemory, FreeDisk: s.MinFreeDisk, Agents: s.MaxAgents, Repeats: s.MaxRepeats}
	if !supervise.MemoryLimits() {
		r.Ceilings.Memory = 0
	}
	tells := engine.Tells(known)
	r.Reserve = s.Reserve
	for _, j := range r.Budgets {
		r.Reserve = r.Reserve.And(s.BudgetRules[j.Name].Reserve)
	}
	a, ok := known.(agent.Agent)
	alone := ok && a.Headless() && !tells.Once // else it is for a person or a program, for whom the reserve is kept
	if !alone || s.NoGate || s.Gate == "" && tells.Gate == "" {
		r.Reserve = nil
	}
	if tells.Model != nil {
		r.RequireModel = s.RequireModel
	}
	if !tells.TellsAgents {
		r.Ceilings.Agents = 0
	}
	if !tells.TellsCalls {
		r.Ceilings.Repeats = 0
	}
}
