package price

// maxCost is the largest cost that is believed, in dollars. It is far below what a sum can hold.
const maxCost = 1e9

// Credible returns nil instead of a cost that cannot be one: not a number, negative or beyond all measure. A CLI may say
// anything, and one such number would spoil every sum that it is added to.
func Credible(cost *float64) *float64 {
	if cost != nil && *cost >= 0 && *cost <= maxCost { // NaN is neither
		return cost
	}
	return nil
}
