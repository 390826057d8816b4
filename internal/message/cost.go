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
		text = fmt.Sprintf("%s (%s) cannot be kept because the cost of %s is unknown", c.What, limit, count(c.Unknown, "attempt"))
		if !c.Until.IsZero() {
			text = fmt.Sprintf("%s is closed until %s because the cost of %s is unknown", c.What, When(c.Until), count(c.Unknown, "attempt"))
		}
	}
	if look != "" {
		text = sentences(text, "see: "+look)
	}
	return text
}

// BudgetAnew says that the file of a budget was damaged.
func BudgetAnew(name string, err error) string {
	return fmt.Sprintf("budget %s was reset: %v", name, err)
}

// BudgetOff says that a budget cannot be used.
func BudgetOff(name string, err error) string {
	return fmt.Sprintf("budget %s cannot be enforced for this run: %v", name, err)
}

// InnerCostOff says that what runs inside a run cannot be counted.
func InnerCostOff(err error) string {
	return fmt.Sprintf("runs inside this one do not count towards its --max-cost: %v", err)
}

// BudgetIncomplete says that the cost of an attempt is missing in a budget.
func BudgetIncomplete(name string) string {
	return fmt.Sprintf("the cost of this attempt is unknown and not counted in budget %s", name)
}

// BudgetLow says that a budget is nearly used up.
func BudgetLow(name string, spent, limit float64) string {
	return fmt.Sprintf("budget %s is nearly used up ($%.2f of $%g)", name, spent, limit)
}

// CostUnknown says that the limit on the cost of a run could not be enforced.
func CostUnknown() string {
	return "the cost of this run is unknown, so --max-cost was not enforced. To see which models have a price: belay prices"
}

// NoBudgets is the answer where there is no budget to show.
func NoBudgets() string {
	return "there are no budgets. To set one: belay run --budget NAME=5/day -- claude -p …"
}

// NoBudget says that there is no budget of that name.
func NoBudget(name string) string { return "there is no budget " + name }

// NewBudget says how to set a budget.
func NewBudget(name string) string {
	return fmt.Sprintf("to set it: belay run --budget %s=5/day -- …", name)
}

// BudgetWithoutLimit says that a run cannot join a budget that has no limit.
func BudgetWithoutLimit(name string) string { return fmt.Sprintf("budget %s has no limit yet", name) }

// BudgetLimit says how to set the limit of a budget.
func BudgetLimit(name string) string { return fmt.Sprintf("set one: --budget %s=5/day", name) }

// BudgetReset says that a budget was reset.
func BudgetReset(name string) string { return fmt.Sprintf("budget %s was reset", name) }

// BudgetUnspent says that there is nothing to reset.
func BudgetUnspent(name string) string {
	return fmt.Sprintf("nothing to reset: nothing has been spent from budget %s", name)
}

// BudgetOpen says how a budget stands: spent is the part of it that is used up, in percent, if that is worth a warning. The window ends at
// ends, if that is known.
func BudgetOpen(percent float64, ends time.Time) string {
	text := "open"
	if percent > 0 {
		text = fmt.Sprintf("warning: %.0f %% spent", percent)
	}
	if !ends.IsZero() {
		text += ", new window at " + When(ends)
	}
	return text
}

// BudgetClosed says how a budget stands that lets nothing start before ends. unknown is how many attempts have an unknown cost, if that is
// why.
func BudgetClosed(unknown int, ends time.Time) string {
	text := "closed"
	if !ends.IsZero() {
		text += " until " + When(ends)
	}
	if unknown > 0 {
		text += fmt.Sprintf(" (cost of %s unknown)", count(unknown, "attempt"))
	}
	return text
}
