package batch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/verdict"
)

// estimate is what tasks cost at least: what their prompts cost alone.
type estimate struct {
	prices  *price.Table
	past    past
	agents  int
	unknown bool
	usd     float64
	model   string
}

// bytesPerToken is more than a token has in any text that people write, so that the cost is not more than it will be.
const bytesPerToken = 8

func (e *estimate) add(t *batch.Task, c *taskCommand) {
	a, ok := c.known.(agent.Agent)
	if !ok {
		return // it asks no model
	}
	e.agents++
	model := t.Model
	if request := a.Info().Request; request != nil && model == "" {
		model = request().Model
	}
	least := price.Call{Input: int64(len(t.Prompt))/bytesPerToken + 1, Output: 1}
	usd, ok := e.prices.Cost(model, time.Now(), least)
	if last := e.past.models[c.known.Name()]; !ok && strings.Contains(last, model) { // none was named, or a family such as opus
		model = last
		usd, ok = e.prices.Cost(model, time.Now(), least)
	}
	if !ok {
		e.unknown = true
		return
	}
	e.usd, e.model = e.usd+usd, model
}

// text says what the tasks cost, by earlier runs of that name if there are any.
func (e *estimate) text(name string, tasks int) string {
	if runs := len(e.past.costs); runs > 0 {
		median := (e.past.costs[(runs-1)/2] + e.past.costs[runs/2]) / 2
		return fmt.Sprintf("about %s (the median of %s named %s is %s)", printable.Dollars(median*float64(tasks)), message.Count(runs, "earlier run"), name, printable.Dollars(median))
	}
	if e.unknown {
		return "unknown, because there is no price for the model"
	}
	return fmt.Sprintf("at least %s (%s)", printable.Dollars(e.usd), "the prompts alone, at the price of "+e.model)
}

// past is what the log says of earlier runs.
type past struct {
	costs  []float64         // of runs with the name that was asked for, sorted
	models map[string]string // that each CLI has used last, by the name of its profile
}

// lookBack is how much of the log is looked at for earlier runs.
const lookBack = 64 << 20

// readPast reads what earlier runs have cost, those of that name, and which models were used.
func readPast(name string) (p past) {
	s, err := command.OpenState()
	if err != nil {
		return p
	}
	costs := map[string]float64{}
	p.models = map[string]string{}
	s.Recent(lookBack, func(e journal.Entry) {
		if e.Kind != "" {
			return
		}
		if e.Model != "" {
			p.models[e.Profile] = e.Model
		}
		var used verdict.Usage
		if name == "" || e.Name != name || json.Unmarshal(e.Usage, &used) != nil {
			return
		}
		if cost := price.Credible(used.CostUSD); cost != nil {
			costs[e.Invocation] += *cost
		}
	})
	p.costs = slices.Sorted(maps.Values(costs))
	return p
}
