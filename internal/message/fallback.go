package message

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/verdict"
)

// FellBack says that another agent gets the request, because the first one cannot take it before at, if that is known.
func FellBack(from, to string, class verdict.Class, at time.Time) string {
	why := unavailable(from, class)
	if class.Throttle() && !at.IsZero() {
		why = LimitHit(from, class, at)
	}
	return sentences(why, "falling back to "+to)
}

// FallbackSkipped says that a fallback is not used, and why.
func FallbackSkipped(name, why string) string {
	return fmt.Sprintf("not falling back to %s: %s", name, why)
}

// FallbackRefused says that a fallback cannot be used for a command, and why.
func FallbackRefused(name, why string) string {
	return fmt.Sprintf("%s cannot be used as a fallback: %s", name, why)
}

// FallbackUnknown is why a fallback is refused that is not an agent.
func FallbackUnknown(name string, agents []string) string {
	return fmt.Sprintf("there is no agent %q; there are %s", name, strings.Join(agents, ", "))
}

// FallbackNotNeeded is why a command has no fallback that is not the request of an agent.
func FallbackNotNeeded() string {
	return "only a single request to an agent can be given to another one, as in claude -p"
}

// FallbackSession is why a command has no fallback that continues a session.
func FallbackSession() string {
	return "a session can only be continued by the agent that it belongs to"
}

// FallbackSame is why a fallback is refused that is the command itself.
func FallbackSame(name string) string {
	return fmt.Sprintf("it is the command itself; name another model, as in %s:MODEL", name)
}

// FallbackModel is why a fallback is refused that cannot be told which model to use.
func FallbackModel(name string) string { return name + " has no option for the model" }

// FallbackOption is why a fallback is refused: the command line says something that it cannot be told.
func FallbackOption(from, option, to string) string {
	return fmt.Sprintf("%s's %s has no exact equivalent in %s", from, option, to)
}

// FallbackForm is why a fallback is refused that cannot print what the command prints.
func FallbackForm(from, to string) string {
	return fmt.Sprintf("%s cannot print its answer in the format that %s was asked for", to, from)
}

// FallbackOpen is why a fallback is refused that may do more than the command.
func FallbackOpen(from, to string) string {
	return fmt.Sprintf("by default %s changes files and runs commands without permission, and %s does not", to, from)
}

// FallbackArguments is why a fallback is refused whose own arguments make no request of it.
func FallbackArguments(name string) string {
	return fmt.Sprintf("with the arguments given for it, %s does not work on a request", name)
}

// FallbackWorked is why a fallback is not used after another agent has worked. flag is what allows it; empty for a caller without flags.
func FallbackWorked(from, flag string) string {
	text := fmt.Sprintf("%s has already worked on this request", from)
	if flag != "" {
		text += fmt.Sprintf(" (%s repeats its work)", flag)
	}
	return text
}

// FallbackSameLimit is why another model is not used.
func FallbackSameLimit() string { return "the limit is that of the account, for all models" }

// FallbackArgs says how to give a fallback arguments of its own.
func FallbackArgs(file, name string) string {
	return fmt.Sprintf("to say what %s may do, in %s: [fallback.%s] args = […]", name, file, name)
}

// FallbackFormat says how to get an answer that any agent can print.
func FallbackFormat() string { return "use belay's own --output-format, in front of the command" }

// BackBefore says that the agent that was asked last cannot take the request either, and that another is available again before it.
func BackBefore(last string, class verdict.Class, name string, at time.Time) string {
	return Later(sentences(unavailable(last, class)+" too", fmt.Sprintf("%s is available again at %s", name, When(at))))
}

// unavailable says why an agent cannot take a request.
func unavailable(name string, class verdict.Class) string {
	if class == verdict.BreakerOpen {
		return fmt.Sprintf("the gate of %s is closed", name)
	}
	return Failed(name, class, "")
}

// NotAFallback says that a text names no fallback.
func NotAFallback(text string) string {
	return fmt.Sprintf("%q is not a fallback, such as codex or claude:sonnet", text)
}

// FallbackTwice says that a fallback is named twice.
func FallbackTwice(text string) string { return text + " is named twice" }

// MustBeArgs says that the arguments of a fallback are not given as a list.
func MustBeArgs() string { return withExample("must be a list", `["--sandbox", "read-only"]`) }

// FallbackStart says how a fallback would be started.
func FallbackStart(name string, args []string) string { return fmt.Sprintf("%s, as %q", name, args) }
