package message

import (
	"fmt"
	"time"

	"github.com/belay-run/belay/verdict"
)

// FellBack says that another agent gets the request, because the first one cannot take it before at, if that is known.
func FellBack(from, to string, class verdict.Class, at time.Time) string {
	why := unavailable(from, class)
	if class.Throttle() && !at.IsZero() {
		why = LimitHit(from, class, at)
	}
	return Sentences(why, "falling back to "+to)
}

// FallbackRefused says that a fallback cannot be used for a command, and why.
func FallbackRefused(name, why string) string {
	return fmt.Sprintf("%s cannot be used as a fallback: %s", name, why)
}

// FallbackNotNeeded is why a command has no fallback that is not the request of an agent.
func FallbackNotNeeded() string {
	return "only a single request to an agent can be given to another one, as in claude -p"
}

// FallbackOption is why a fallback is refused: the command line says something that it cannot be told.
func FallbackOption(from, option, to string) string {
	return fmt.Sprintf("%s's %s has no exact equivalent in %s", from, option, to)
}

// FallbackWorked is why a fallback is not used after another agent has worked. flag is what allows it; empty for a caller without flags.
func FallbackWorked(from, flag string) string {
	text := fmt.Sprintf("%s has already worked on this request", from)
	if flag != "" {
		text += fmt.Sprintf(" (%s repeats its work)", flag)
	}
	return text
}

// BackBefore says that the agent that was asked last cannot take the request either, and that another is available again before it.
func BackBefore(last string, class verdict.Class, name string, at time.Time) string {
	return Later(Sentences(unavailable(last, class)+" too", fmt.Sprintf("%s is available again at %s", name, When(at))))
}

// unavailable says why an agent cannot take a request.
func unavailable(name string, class verdict.Class) string {
	if class == verdict.BreakerOpen {
		return fmt.Sprintf("the gate of %s is closed", name)
	}
	return Failed(name, class, "")
}

// MustBeArgs says that the arguments of a fallback are not given as a list.
func MustBeArgs() string { return withExample("must be a list", `["--sandbox", "read-only"]`) }
