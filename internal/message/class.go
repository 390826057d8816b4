package message

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/belay-run/belay/verdict"
)

// words are how people are told of a class.
type words struct {
	noun      string // where it stands alone: "rate limit"
	obstacle  string // what a command has hit: "claude hit a rate limit"; empty if it has not hit something
	predicate string // what became of it otherwise: "claude gave no usable answer"; empty if its own words say more
	final     string // why it is not retried; empty if it is, or nothing is known of it
}

// classes has the words of each class of failure.
var classes = map[verdict.Class]words{
	verdict.RateLimit:       {"rate limit", "a rate limit", "", ""},
	verdict.UsageLimit:      {"usage limit", "its usage limit", "", "nothing says when the limit resets"},
	verdict.Overloaded:      {"overloaded server", "an overloaded server", "", ""},
	verdict.ServerError:     {"server error", "a server error", "", ""},
	verdict.Network:         {"network error", "a network error", "", ""},
	verdict.Timeout:         {"timeout", "a timeout", "", "what took too long once will most likely take too long again"},
	verdict.Stalled:         {"no output", "", "", ""},
	verdict.BadOutput:       {"no usable answer", "", "gave no usable answer", ""},
	verdict.SessionBusy:     {"session in use", "", "found its session in use", ""},
	verdict.Auth:            {"authentication failed", "", "could not authenticate", "a key or login that is not accepted needs a person"},
	verdict.Billing:         {"billing problem", "", "has a billing problem", "a billing problem needs a person"},
	verdict.InvalidRequest:  {"invalid request", "", "", "the same request would be refused again"},
	verdict.NotFound:        {"not found", "", "", "what is missing would be missing again"},
	verdict.TooLarge:        {"too large", "", "exceeded a size limit", "the same request would be too large again"},
	verdict.SessionNotFound: {"session not found", "", "did not find its session", "the session does not exist"},
	verdict.SessionBroken:   {"session broken", "", "cannot go on with its session, because the service rejects the history", "the service would reject the same history again"},
	verdict.LimitReached:    {"limit reached", "", "reached one of its limits", "a limit that was set for it is reached"},
	verdict.Refused:         {"refused", "", "refused the request", "the model would refuse it again"},
	verdict.Blocked:         {"blocked", "", "did nothing", "what blocked it would block it again"},
	verdict.NotDone:         {"not done", "", "did not pass its check", ""},
	verdict.Conflict:        {"conflict", "", "could not be landed", "it has to be merged by hand"},
	verdict.WrongModel:      {"another model", "", "used another model", "another model would answer"},
	verdict.Resources:       {"too much memory or disk", "", "used too much memory or disk", "it would need as much again"},
	verdict.Runaway:         {"runaway", "", "was going round in circles", "it would go round in circles again"},
	verdict.ToolMissing:     {"command not found", "", "", "the command has to be installed first"},
	verdict.Interrupted:     {"interrupted", "", "was interrupted", "it was told to stop"},
	verdict.Crash:           {"crash", "", "", ""},
	verdict.BreakerOpen:     {"breaker open", "", "", ""},
}

// Noun names a class; empty if there is nothing to name.
func Noun(class verdict.Class) string {
	if class == verdict.Unknown || class == verdict.OK {
		return ""
	}
	return cmp.Or(classes[class].noun, strings.ReplaceAll(string(class), "_", " ")) // a newer version may have more of them
}

// ClassName is a class as people read it. Of a failure that has no class, the exit code says more, if there is one.
func ClassName(class string, code int) string {
	switch noun := Noun(verdict.Class(class)); {
	case noun != "":
		return noun
	case class == string(verdict.Unknown) && code > 0:
		return fmt.Sprintf("exit %d", code)
	case class == string(verdict.Unknown):
		return "failed"
	}
	return class
}

// ClassNamed is the class that a text names, as people read it or as programs do; empty if there is none.
func ClassNamed(text string) verdict.Class {
	for class, w := range classes {
		if strings.EqualFold(text, w.noun) {
			return class
		}
	}
	class, _ := verdict.ParseClass(text)
	return class
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
