package message

import (
	"fmt"
	"strings"
)

// NotWholeNumber says that a value is not a whole number.
func NotWholeNumber(value string) string { return fmt.Sprintf("%q is not a whole number", value) }

// NotANumber says that a value is not a number of a range.
func NotANumber(value string, low, high int) string {
	return fmt.Sprintf("%q is not a number between %d and %d", value, low, high)
}

// NotAnExitCode says that a value is not an exit code of a range.
func NotAnExitCode(value string, low, high int) string {
	return fmt.Sprintf("%q is not an exit code from %d to %d", value, low, high)
}

// NotOneOf says that a value is none of those allowed.
func NotOneOf(value string, allowed []string) string {
	return fmt.Sprintf("%q is not %s", value, or(allowed))
}

// NotADuration says that a value is not a duration.
func NotADuration(value string) string { return durationHint(value, "is not a duration") }

// NegativeDuration says that a duration is negative.
func NegativeDuration(value string) string { return durationHint(value, "is negative") }

// DurationTooLong says that a duration is longer than any that is accepted.
func DurationTooLong(value string) string { return durationHint(value, "is longer than a year") }

func durationHint(value, why string) string {
	return fmt.Sprintf("%q %s; write 30s, 5m, 1h30m or plain seconds", value, why)
}

// NoProfile says that there is no profile of that name. near, if not empty, is the one that may be meant.
func NoProfile(name, near string, profiles []string) string {
	text := "there is no profile " + name
	if near != "" {
		return text + DidYouMean(near)
	}
	return Sentences(text, "the profiles are "+And(profiles))
}

// DidYouMean is the end of a message about a word that is not known, if there is one like it.
func DidYouMean(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", near)
}

// DidYouMeanOne asks for the one that was probably meant, in a line of its own.
func DidYouMeanOne(near string) string { return "did you mean " + near + "?" }

// or joins alternatives: "day, week or month".
func or(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
