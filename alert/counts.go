package alert

// Counts reports whether a run that ended with this class of verdict is a failure of what it called. An interruption is
// somebody's wish. What was never started was refused on our side, by a gate or a scope, unless there was nothing that
// could be started.
func Counts(class string, started bool) bool {
	switch class {
	case "ok", "interrupted", "breaker_open", "":
		return false
	}
	return started || class == "tool_missing"
}
