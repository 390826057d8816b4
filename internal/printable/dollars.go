package printable

import (
	"fmt"
	"math"
)

// maxDollars is the largest amount that is written out.
const maxDollars = 1e9

// Dollars shows a cost. What cannot be one is shown as unknown, and what is absurd is kept short: a cost is what a command says.
func Dollars(amount float64) string {
	switch {
	case math.IsNaN(amount), math.IsInf(amount, 0), amount < 0:
		return "unknown"
	case amount > maxDollars:
		return fmt.Sprintf("$%.3g", amount)
	}
	return fmt.Sprintf("$%.4f", amount)
}
