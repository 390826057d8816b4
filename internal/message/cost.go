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
	Window       string // a day, a week or a month; empty for a run
	Unknown      int    // how many attempts have an unknown cost, if that is why
	Until        time.Time
}

// CostReached says that a limit on cost is used up. look, if not empty, is the command that shows it.
func CostReached(c Cost, look string) string {
	limit := fmt.Sprintf("$%g", c.Limit)
	if c.Window != "" {
		limit += " a " + c.Window
	}
	text := fmt.Sprintf("%s is used up: %s of %s", c.What, printable.Dollars(c.Spent), limit)
	if c.Unknown > 0 {
		text = fmt.Sprintf("the cost of %d attempt%s is not known, so %s (%s) cannot be kept", c.Unknown, plural(c.Unknown), c.What, limit)
	}
	if !c.Until.IsZero() {
		text += "; it opens again at " + When(c.Until)
	}
	if look != "" {
		text += "; see: " + look
	}
	return text
}

// BudgetAnew says that the file of a budget was damaged.
func BudgetAnew(name string, err error) string {
	return fmt.Sprintf("budget %s begins anew: %v", name, err)
}

// BudgetOff says that a budget cannot be used.
func BudgetOff(name string, err error) string {
	return fmt.Sprintf("budget %s is not in force for this run: %v", name, err)
}

// InnerCostOff says that what runs inside a run cannot be counted.
func InnerCostOff(err error) string {
	return fmt.Sprintf("what runs inside this run does not count towards its --max-cost: %v", err)
}

// BudgetIncomplete says that the cost of an attempt is missing in a budget.
func BudgetIncomplete(name string) string {
	return fmt.Sprintf("the cost of this attempt is not known, so it is missing in budget %s", name)
}

// BudgetLow says that a budget is nearly used up.
func BudgetLow(name string, spent, limit float64) string {
	return fmt.Sprintf("budget %s is nearly used up: $%.2f of $%g", name, spent, limit)
}

// CostUnknown says that the limit on the cost of a run could not be kept.
func CostUnknown() string {
	return "the cost of this run is not known, so --max-cost was not kept; models with a price: belay prices"
}
