package message

import (
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/printable"
)

// Bound is what keeps a run from waiting. Its fields name the flags of a caller who has some.
type Bound struct {
	// Flag is the flag or setting: "--max-wait". Empty for a caller without flags.
	Flag string
	// Limit is its value, if that is a duration.
	Limit time.Duration
	// At is when the wait would have ended; zero if that is not known, or said already.
	At time.Time
}

// NotWaiting says that a run does not wait, and why.
func NotWaiting(b Bound) string {
	text := "not waiting"
	if !b.At.IsZero() {
		text += " until " + When(b.At)
	}
	switch {
	case b.Flag == "" && b.Limit > 0:
		return fmt.Sprintf("%s: the longest wait allowed is %s", text, printable.Span(b.Limit))
	case b.Flag == "":
		return text
	case b.Limit > 0:
		return fmt.Sprintf("%s (%s %s)", text, b.Flag, printable.Span(b.Limit))
	}
	return fmt.Sprintf("%s because of %s", text, b.Flag)
}
