package message

// RunEnded says that a run cannot be cancelled.
func RunEnded() string { return "this run has ended" }

// MaxCost names the limit on the cost of a run, or of the run around it.
func MaxCost(outer bool) string {
	if outer {
		return "the maximum cost of the run around it"
	}
	return "the maximum cost"
}

// MaxCostFlag is MaxCost in the words of the command line.
func MaxCostFlag(outer bool) string {
	if outer {
		return "--max-cost of the run around it"
	}
	return "--max-cost"
}
