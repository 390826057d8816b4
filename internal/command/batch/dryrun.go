package batch

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
)

// shownCommands is how many commands a dry run prints.
const shownCommands = 10

// shownPrompt is how many columns of a prompt it prints behind its command.
const shownPrompt = 60

// batchDryRun says what would run, and what it costs at least.
func batchDryRun(std stdio.Streams, r *recipe, b *batch.Batch, results string) error {
	if err := batch.Peek(results, b.Plan); err != nil && !errors.Is(err, os.ErrNotExist) {
		return wrongResults(results, err)
	}
	others := r.options.others(b.Plan)
	line := func(name, text string) { term.Printf(std.Out, "%-10s %s\n", name+":", text) }
	estimate := estimate{prices: r.settings.Prices, past: readPast(r.settings.Name)}
	shown, tasks := 0, 0
	err := b.Unfinished(func(t *batch.Task, _, _ bool) error {
		tasks++
		c, err := r.command(t)
		if err != nil {
			return err
		}
		if shown++; shown <= shownCommands {
			words := make([]string, len(c.args))
			for i, arg := range c.args {
				words[i] = printable.Quoted(arg)
			}
			if c.prompt != nil {
				words = append(words, "#", printable.CutEnd(printable.Line(*c.prompt), shownPrompt, "…"))
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
	todo := message.Count(tasks, "task") + " to run"
	if over := b.Plan.Len() - tasks; over > 0 {
		todo += fmt.Sprintf(", %d already finished", over)
	}
	if others > 0 {
		todo += fmt.Sprintf(", %d of them by another command or model", others)
	}
	line("tasks", todo)
	line("results", results)
	line("jobs", jobsText(b, r))
	if estimate.agents > 0 {
		line("cost", estimate.text(r.settings.Name, tasks))
	}
	return nil
}

// jobsText says how many tasks would run at a time.
func jobsText(b *batch.Batch, r *recipe) string {
	if b.Jobs > 0 {
		return fmt.Sprint(b.Jobs)
	}
	return fmt.Sprintf("auto, at most %d at a time", maxJobs(r.settings))
}
