// Package message makes the sentences that are composed of several parts or said in several places, about runs, gates, budgets, hooks
// and MCP servers. They take plain values and return the text. What is said in one place is written there.
//
// A message has the cause first, then what Belay does about it, then what to type. It says one thing a sentence, a time once and
// no class that has words.
package message

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// When says a time to come as a person would: the time of day, and the day if that is not today.
func When(t time.Time) string {
	t, now := t.Local(), time.Now()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05 MST")
	}
	return t.Format("2006-01-02 15:04 MST")
}

// TimeOfDay is a time for where there is little room: hours and minutes, and the day if that is not today.
func TimeOfDay(t, now time.Time) string { return Clock(t, now, "15:04", "Jan 2 15:04") }

// Clock is a time in the zone of now: in one layout if it is on the same day, else in the other.
func Clock(t, now time.Time, today, other string) string {
	if t = t.In(now.Location()); t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format(today)
	}
	return t.Format(other)
}

// LastLine is the last line of a text: programs come to the point at the end.
func LastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// lastWords are the last line of what a command has said, if that is not empty.
func lastWords(evidence string) string { return LastLine(strings.TrimSpace(evidence)) }

// later is how an error ends that is worth trying again later. Callers look for it.
const later = "; retry later"

// Later says that it is worth trying again later.
func Later(text string) string {
	if strings.HasSuffix(text, later) {
		return text
	}
	return text + later
}

// WithoutLater is the text of an error as a person is shown it: one that already says what to type says nothing after it. advised
// says that what to type comes in a line of its own.
func WithoutLater(text string, advised bool) string {
	short, ok := strings.CutSuffix(text, later)
	if ok && (advised || strings.Contains(LastLine(short), ": belay ")) {
		return short
	}
	return text
}

// Sentences puts one sentence after another. The first one may be foreign, and end as it likes.
func Sentences(first, second string) string {
	if second == "" {
		return first
	}
	r, size := utf8.DecodeRuneInString(second)
	second = string(unicode.ToUpper(r)) + second[size:]
	if first = strings.TrimSuffix(first, "."); strings.HasSuffix(first, "!") || strings.HasSuffix(first, "?") || strings.HasSuffix(first, "…") {
		return first + " " + second
	}
	return first + ". " + second
}

// Seconds shows a limit: "300 s".
func Seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }

// Count is a number of things: "1 attempt", "2 attempts".
func Count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(what, "y"))
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Verb is the form of a verb that goes with a number.
func Verb(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// And joins names: "gate api and scope one".
func And(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Error is an error with this text. The causes are what errors.Is and errors.As find in it; its text says them already.
func Error(text string, causes ...error) error { return &textError{text, causes} }

type textError struct {
	text   string
	causes []error
}

func (e *textError) Error() string   { return e.text }
func (e *textError) Unwrap() []error { return e.causes }

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
