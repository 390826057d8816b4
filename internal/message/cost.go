package message

import (
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/printable"
)

// Cost is how a limit on cost stands.
type Cost struct {
	// What names the limit: "--max-cost", "budget nightly".
	What         string
	Spent, Limit float64
	Window       string // day, week or month; empty for a run
	Unknown      int    // how many attempts have an unknown cost, if that is why
	Until        time.Time
}

// CostReached says that a limit on cost is used up. look, if not empty, is the command that shows it.
func CostReached(c Cost, look string) string {
	limit := fmt.Sprintf("$%g", c.Limit)
	if c.Window != "" {
		limit += " a " + c.Window
	}
	text := c.What + " is used up"
	if !c.Until.IsZero() {
		text += " until " + When(c.Until)
	}
	text += fmt.Sprintf(" (%s of %s)", printable.Dollars(c.Spent), limit)
	if c.Unknown > 0 {
		text = fmt.Sprintf("%s (%s) cannot be kept because the cost of %s is unknown", c.What, limit, Count(c.Unknown, "attempt"))
		if !c.Until.IsZero() {
			text = fmt.Sprintf("%s is closed until %s because the cost of %s is unknown", c.What, When(c.Until), Count(c.Unknown, "attempt"))
		}
	}
	if look != "" {
		text = Sentences(text, "see: "+look)
	}
	return text
}

// BudgetOff says that a budget cannot be used.
func BudgetOff(name string, err error) string {
	return fmt.Sprintf("budget %s cannot be enforced for this run: %v", name, err)
}
