package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/verdict"
)

// shownCommands is how many commands a dry run prints.
const shownCommands = 10

// batchDryRun says what would run, and what it costs at least.
func batchDryRun(std stdio.Streams, r *taskRunner, b *batch.Batch, results string) error {
	if err := batch.Peek(results, b.Plan); err != nil && !errors.Is(err, os.ErrNotExist) {
		return wrongResults(results, err)
	}
	line := func(name, text string) { term.Printf(std.Out, "%-10s %s\n", name+":", text) }
	estimate := estimate{prices: r.settings.Prices}
	shown, tasks := 0, 0
	err := b.Pending(func(t *batch.Task) error {
		tasks++
		c, err := r.command(t)
		if err != nil {
			return err
		}
		if shown++; shown <= shownCommands {
			words := make([]string, len(c.args))
			for i, arg := range c.args {
				words[i] = quoted(arg)
			}
			line("command", strings.Join(words, " "))
		}
		estimate.add(t, &c)
		return nil
	})
	if err != nil {
		return wrongTasks(results, err)
	}
	if shown > shownCommands {
		line("", fmt.Sprintf("… %d more", shown-shownCommands))
	}
	line("tasks", message.BatchWouldRun(tasks, b.Plan.Len()-tasks))
	line("results", results)
	line("jobs", jobsText(b, r))
	if estimate.agents > 0 {
		line("cost", estimate.text(r.settings.Name, tasks))
	}
	return nil
}

// jobsText says how many tasks would run at a time.
func jobsText(b *batch.Batch, r *taskRunner) string {
	if b.Jobs > 0 {
		return fmt.Sprint(b.Jobs)
	}
	return message.BatchAutoJobs(maxJobs(r.settings))
}

// estimate is what tasks cost at least: what their prompts cost alone.
type estimate struct {
	prices  *price.Table
	agents  int
	unknown bool
	usd     float64
	model   string
}

// bytesPerToken is more than a token has in any text that people write, so that the cost is not more than it will be.
const bytesPerToken = 8

func (e *estimate) add(t *batch.Task, c *taskCommand) {
	if _, ok := c.known.(agent.Agent); !ok {
		return // it asks no model
	}
	e.agents++
	model := t.Model
	if a, ok := c.known.(agent.Transferable); ok && model == "" {
		model = a.Request().Model
	}
	usd, ok := e.prices.Cost(model, time.Now(), price.Call{Input: int64(len(t.Prompt))/bytesPerToken + 1, Output: 1})
	if !ok {
		e.unknown = true
		return
	}
	e.usd, e.model = e.usd+usd, model
}

// text says what the tasks cost, by earlier runs of that name if there are any.
func (e *estimate) text(name string, tasks int) string {
	if median, runs := medianCost(name); runs > 0 {
		return message.BatchByEarlier(median*float64(tasks), median, runs, name)
	}
	if e.unknown {
		return message.BatchCostNotKnown()
	}
	return message.BatchAtLeast(e.usd, message.BatchByPrompts(e.model))
}

// lookBack is how much of the log is looked at for earlier runs.
const lookBack = 64 << 20

// medianCost is what earlier runs of that name have cost, and how many there were.
func medianCost(name string) (median float64, runs int) {
	s := &state.State{}
	if name == "" || s.Prepare() != nil {
		return 0, 0
	}
	f, err := s.OpenLog()
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, 0
	}
	from := max(info.Size()-lookBack, 0)
	costs := map[string]float64{}
	for e := range journal.Read(io.NewSectionReader(f, from, info.Size()-from), nil) {
		var used verdict.Usage
		if e.Name != name || e.Kind != "" || json.Unmarshal(e.Usage, &used) != nil {
			continue
		}
		if cost := price.Credible(used.CostUSD); cost != nil {
			costs[e.Invocation] += *cost
		}
	}
	if len(costs) == 0 {
		return 0, 0
	}
	list := make([]float64, 0, len(costs))
	for _, cost := range costs {
		list = append(list, cost)
	}
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2, len(list)
}
