package message

import (
	"strings"

	"github.com/belay-run/belay/internal/lookup"
	"github.com/belay-run/belay/verdict"
)

// obstacles are what a command has hit, by class: "claude hit a rate limit".
var obstacles = lookup.Table[verdict.Class, string]{
	{verdict.RateLimit, "a rate limit"},
	{verdict.UsageLimit, "its usage limit"},
	{verdict.Overloaded, "an overloaded server"},
	{verdict.ServerError, "a server error"},
	{verdict.Network, "a network error"},
	{verdict.Timeout, "a timeout"},
}

// predicates are what became of a command, by class, where it has not hit something: "claude gave no usable answer".
var predicates = lookup.Table[verdict.Class, string]{
	{verdict.BadOutput, "gave no usable answer"},
	{verdict.SessionBusy, "found its session in use"},
	{verdict.SessionNotFound, "did not find its session"},
	{verdict.Auth, "could not authenticate"},
	{verdict.Billing, "has a billing problem"},
	{verdict.LimitReached, "reached one of its limits"},
	{verdict.Refused, "refused the request"},
	{verdict.Blocked, "did nothing"},
	{verdict.Interrupted, "was interrupted"},
	{verdict.TooLarge, "exceeded a size limit"},
}

// nouns name a class in a few words, where it stands alone: "rate limit".
var nouns = lookup.Table[verdict.Class, string]{
	{verdict.RateLimit, "rate limit"},
	{verdict.UsageLimit, "usage limit"},
	{verdict.Overloaded, "overloaded server"},
	{verdict.ServerError, "server error"},
	{verdict.Network, "network error"},
	{verdict.Timeout, "timeout"},
	{verdict.Stalled, "no output"},
	{verdict.BadOutput, "no usable answer"},
	{verdict.SessionBusy, "session in use"},
	{verdict.Auth, "authentication failed"},
	{verdict.Billing, "billing problem"},
	{verdict.InvalidRequest, "invalid request"},
	{verdict.NotFound, "not found"},
	{verdict.ToolMissing, "command not found"},
	{verdict.Crash, "crash"},
}

// noun names a class; empty if there is nothing to name.
func noun(class verdict.Class) string {
	if class == verdict.Unknown || class == verdict.OK {
		return ""
	}
	if text := nouns.Of(class); text != "" {
		return text
	}
	return strings.ReplaceAll(string(class), "_", " ")
}

// clause says what became of a command, as far as its class has words for it; else it is empty.
func clause(name string, class verdict.Class) string {
	if what := obstacles.Of(class); what != "" {
		return name + " hit " + what
	}
	if what := predicates.Of(class); what != "" {
		return name + " " + what
	}
	return ""
}

// speaksForItself says that the words of a class need no further evidence while the run goes on.
func speaksForItself(class verdict.Class) bool {
	return class == verdict.RateLimit || class == verdict.UsageLimit || class == verdict.Overloaded
}

// Verdict names the class and the rule of a failure as the log has them, for --verbose.
func Verdict(class verdict.Class, rule string) string {
	text := "verdict: " + string(class)
	if rule != "" {
		text += " (rule " + rule + ")"
	}
	return text
}
