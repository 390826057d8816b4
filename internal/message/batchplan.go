package message

import (
	"fmt"

	"github.com/belay-run/belay/internal/printable"
)

// BatchWouldRun says how many tasks a batch would run.
func BatchWouldRun(tasks, over int) string {
	if over == 0 {
		return fmt.Sprintf("%s to run", count(tasks, "task"))
	}
	return fmt.Sprintf("%s to run, %d already finished", count(tasks, "task"), over)
}

// BatchAtLeast says what the tasks of a batch will cost at least.
func BatchAtLeast(dollars float64, basis string) string {
	return fmt.Sprintf("at least %s (%s)", printable.Dollars(dollars), basis)
}

// BatchByPrompts says what a lower bound of the cost is made of.
func BatchByPrompts(model string) string { return "the prompts alone, at the price of " + model }

// BatchCostNotKnown says that there is no price to expect.
func BatchCostNotKnown() string { return "unknown, because there is no price for the model" }

// BatchByEarlier says what the tasks will probably cost, by earlier runs of that name.
func BatchByEarlier(dollars, median float64, runs int, name string) string {
	return fmt.Sprintf("about %s (the median of %s named %s is %s)", printable.Dollars(dollars), count(runs, "earlier run"), name, printable.Dollars(median))
}

// BatchAutoJobs says that the number of tasks at a time finds itself.
func BatchAutoJobs(most int) string { return fmt.Sprintf("auto, at most %d at a time", most) }
