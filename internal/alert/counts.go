package alert

// The rules of verdicts on what Belay has stopped, or not started, for its cost: that of a run, and that of a budget.
const (
	RuleMaxCost = "max-cost"
	RuleBudget  = "cost-budget"
)

// Counts reports whether a run that ended with this verdict is a failure of what it called. An interruption and a limit on
// cost are intended by the user. What was never started was refused by Belay, at a gate or a scope, unless the command could
// not be started.
func Counts(class, rule string, started bool) bool {
	switch class {
	case "ok", "interrupted", "breaker_open", "":
		return false
	}
	if rule == RuleMaxCost || rule == RuleBudget {
		return false
	}
	return started || class == "tool_missing"
}

// CountsCall reports whether a call of an MCP server that ended with this class is a failure of the server. What the client
// has asked wrongly, or for what the server does not offer, is not.
func CountsCall(class string) bool {
	return Counts(class, "", true) && class != "invalid_request" && class != "not_found"
}
