package message

import "fmt"

// IgnoredKey says that a key of a file has no effect.
func IgnoredKey(at, key, why string) string {
	return fmt.Sprintf("%s: %s is ignored: %s", at, key, why)
}

// IgnoredFile says that a file has no effect.
func IgnoredFile(at, why string) string { return fmt.Sprintf("%s is ignored: %s", at, why) }

// IgnoredMore says that more than one thing has no effect.
func IgnoredMore(first string, more int) string {
	return fmt.Sprintf("%s (and %d more: belay config show)", first, more)
}

// PerCall says that a setting cannot be in a file.
func PerCall(flag string) string { return "applies to a single call only. Use --" + flag }

// ProjectMayNot says that a project's file may not set this, alerts, budgets, prices or rules.
func ProjectMayNot(what string) string {
	it := "them"
	if what == "this" {
		it = "it"
	}
	return fmt.Sprintf("a project's file may not set %s. Put %s in your own config.toml", what, it)
}

// ProjectRetries says that a project's file cannot turn on retries.
func ProjectRetries() string {
	return "a project's file cannot turn on retries. Use --max-retries, or set it in your own config.toml"
}

// ProjectTurnedOff says that the user has turned a setting off.
func ProjectTurnedOff(from string) string { return "you turned it off in " + from }

// ProjectCannotTurnOff says that a project's file cannot turn a setting off.
func ProjectCannotTurnOff() string { return "a project's file cannot turn it off" }

// ProjectAgainstUser says that a project's file would undo what the user asks for.
func ProjectAgainstUser() string { return "it would turn off what you asked for" }

// ProjectJitter says that a project's file would make waits shorter.
func ProjectJitter(jitter any, from string) string {
	return fmt.Sprintf("a project's file may only make waits longer, and %v (%s) already makes them longer", jitter, from)
}

// ProjectBound says that a project's file may only lower, or only raise, a value.
func ProjectBound(may, value, from string) string {
	return fmt.Sprintf("a project's file may only %s it, and it is %s (%s)", may, value, from)
}

// ProjectAboveRepository says that a project's file is above the repository.
func ProjectAboveRepository(root string) string {
	return sentences("it is above the root of the repository, "+root, ownSettings)
}

// ProjectAboveHome says that a project's file is above the home directory.
func ProjectAboveHome() string { return sentences("it is above your home directory", ownSettings) }

// ProjectOutside says that a project's file is in a directory of no one's.
func ProjectOutside() string {
	return "outside a repository and your home directory, only a file in the working directory is read"
}

const ownSettings = "put settings for all projects in your own config.toml"

// ThrottlesCount says how waits for limits are counted: those that count as retries.
func ThrottlesCount() string { return "count as retries" }

// ThrottlesUnwaited says that limits are not waited for.
func ThrottlesUnwaited() string { return "are not waited for" }

// ThrottlesBounded says that waits for limits do not count as retries. starts is how often a command may start; 0 is as often as the time
// for waits allows.
func ThrottlesBounded(starts int) string {
	if starts > 0 {
		return fmt.Sprintf("do not count as retries; at most %d starts in all", starts)
	}
	return "do not count as retries; only the total wait is limited"
}

// WaitsUnbounded says that nothing bounds the waits.
func WaitsUnbounded() string { return "no limit on waiting" }

// WaitsBounded says how long is waited at most.
func WaitsBounded(most string) string { return "at most " + most + " of waiting" }
