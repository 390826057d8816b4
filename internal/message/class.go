package message

import (
	"cmp"
	"strings"

	"github.com/belay-run/belay/internal/lookup"
	"github.com/belay-run/belay/verdict"
)

// words are how people are told of a class.
type words struct {
	noun      string // where it stands alone: "rate limit"
	obstacle  string // what a command has hit: "claude hit a rate limit"; empty if it has not hit something
	predicate string // what became of it otherwise: "claude gave no usable answer"; empty if its own words say more
}

// classes has the words of each class of failure.
var classes = lookup.Table[verdict.Class, words]{
	{verdict.RateLimit, words{"rate limit", "a rate limit", ""}},
	{verdict.UsageLimit, words{"usage limit", "its usage limit", ""}},
	{verdict.Overloaded, words{"overloaded server", "an overloaded server", ""}},
	{verdict.ServerError, words{"server error", "a server error", ""}},
	{verdict.Network, words{"network error", "a network error", ""}},
	{verdict.Timeout, words{"timeout", "a timeout", ""}},
	{verdict.Stalled, words{"no output", "", ""}},
	{verdict.BadOutput, words{"no usable answer", "", "gave no usable answer"}},
	{verdict.SessionBusy, words{"session in use", "", "found its session in use"}},
	{verdict.Auth, words{"authentication failed", "", "could not authenticate"}},
	{verdict.Billing, words{"billing problem", "", "has a billing problem"}},
	{verdict.InvalidRequest, words{"invalid request", "", ""}},
	{verdict.NotFound, words{"not found", "", ""}},
	{verdict.TooLarge, words{"too large", "", "exceeded a size limit"}},
	{verdict.SessionNotFound, words{"session not found", "", "did not find its session"}},
	{verdict.LimitReached, words{"limit reached", "", "reached one of its limits"}},
	{verdict.Refused, words{"refused", "", "refused the request"}},
	{verdict.Blocked, words{"blocked", "", "did nothing"}},
	{verdict.ToolMissing, words{"command not found", "", ""}},
	{verdict.Interrupted, words{"interrupted", "", "was interrupted"}},
	{verdict.Crash, words{"crash", "", ""}},
	{verdict.BreakerOpen, words{"breaker open", "", ""}},
}

// noun names a class; empty if there is nothing to name.
func noun(class verdict.Class) string {
	if class == verdict.Unknown || class == verdict.OK {
		return ""
	}
	return cmp.Or(classes.Of(class).noun, strings.ReplaceAll(string(class), "_", " ")) // a newer version may have more of them
}

// clause says what became of a command, as far as its class has words for it; else it is empty.
func clause(name string, class verdict.Class) string {
	switch w := classes.Of(class); {
	case w.obstacle != "":
		return name + " hit " + w.obstacle
	case w.predicate != "":
		return name + " " + w.predicate
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
