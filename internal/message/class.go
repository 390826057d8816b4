package message

import (
	"cmp"
	"strings"

	"github.com/belay-run/belay/verdict"
)

// words are how people are told of a class.
type words struct {
	noun      string // where it stands alone: "rate limit"
	obstacle  string // what a command has hit: "claude hit a rate limit"; empty if it has not hit something
	predicate string // what became of it otherwise: "claude gave no usable answer"; empty if its own words say more
}

// classes has the words of each class of failure.
var classes = map[verdict.Class]words{
	verdict.RateLimit:       {"rate limit", "a rate limit", ""},
	verdict.UsageLimit:      {"usage limit", "its usage limit", ""},
	verdict.Overloaded:      {"overloaded server", "an overloaded server", ""},
	verdict.ServerError:     {"server error", "a server error", ""},
	verdict.Network:         {"network error", "a network error", ""},
	verdict.Timeout:         {"timeout", "a timeout", ""},
	verdict.Stalled:         {"no output", "", ""},
	verdict.BadOutput:       {"no usable answer", "", "gave no usable answer"},
	verdict.SessionBusy:     {"session in use", "", "found its session in use"},
	verdict.Auth:            {"authentication failed", "", "could not authenticate"},
	verdict.Billing:         {"billing problem", "", "has a billing problem"},
	verdict.InvalidRequest:  {"invalid request", "", ""},
	verdict.NotFound:        {"not found", "", ""},
	verdict.TooLarge:        {"too large", "", "exceeded a size limit"},
	verdict.SessionNotFound: {"session not found", "", "did not find its session"},
	verdict.SessionBroken:   {"session broken", "", "cannot go on with its session, because the service rejects the history"},
	verdict.LimitReached:    {"limit reached", "", "reached one of its limits"},
	verdict.Refused:         {"refused", "", "refused the request"},
	verdict.Blocked:         {"blocked", "", "did nothing"},
	verdict.NotDone:         {"not done", "", "did not pass its check"},
	verdict.Conflict:        {"conflict", "", "could not be landed"},
	verdict.WrongModel:      {"another model", "", "used another model"},
	verdict.Resources:       {"too much memory or disk", "", "used too much memory or disk"},
	verdict.Runaway:         {"runaway", "", "was going round in circles"},
	verdict.ToolMissing:     {"command not found", "", ""},
	verdict.Interrupted:     {"interrupted", "", "was interrupted"},
	verdict.Crash:           {"crash", "", ""},
	verdict.BreakerOpen:     {"breaker open", "", ""},
}

// Noun names a class; empty if there is nothing to name.
func Noun(class verdict.Class) string {
	if class == verdict.Unknown || class == verdict.OK {
		return ""
	}
	return cmp.Or(classes[class].noun, strings.ReplaceAll(string(class), "_", " ")) // a newer version may have more of them
}

// clause says what became of a command, as far as its class has words for it; else it is empty.
func clause(name string, class verdict.Class) string {
	switch w := classes[class]; {
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
