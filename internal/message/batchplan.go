package message

import (
	"fmt"

	"github.com/belay-run/belay/internal/printable"
)

// BatchWouldRun says how many tasks a batch would run.
func BatchWouldRun(tasks, over int) string {
	if over == 0 {
		return fmt.Sprintf("%s to run", Count(tasks, "task"))
	}
	return fmt.Sprintf("%s to run, %d already finished", Count(tasks, "task"), over)
}

// BatchAtLeast says what the tasks of a batch will cost at least.
func BatchAtLeast(dollars float64, basis string) string {
	return fmt.Sprintf("at least %s (%s)", printable.Dollars(dollars), basis)
}
