package message

import "fmt"

// ProjectMayNot says that a project's file may not set this, alerts, budgets, prices or rules.
func ProjectMayNot(what string) string {
	it := "them"
	if what == "this" {
		it = "it"
	}
	return fmt.Sprintf("a project's file may not set %s. Put %s in your own config.toml", what, it)
}

// ProjectAboveRepository says that a project's file is above the repository.
func ProjectAboveRepository(root string) string {
	return Sentences("it is above the root of the repository, "+root, ownSettings)
}

// ProjectAboveHome says that a project's file is above the home directory.
func ProjectAboveHome() string { return Sentences("it is above your home directory", ownSettings) }

const ownSettings = "put settings for all projects in your own config.toml"

// ThrottlesBounded says that waits for limits do not count as retries. starts is how often a command may start; 0 is as often as the time
// for waits allows.
func ThrottlesBounded(starts int) string {
	if starts > 0 {
		return fmt.Sprintf("do not count as retries; at most %d starts in all", starts)
	}
	return "do not count as retries; only the total wait is limited"
}
