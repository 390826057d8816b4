// Package message makes the sentences that people read about runs, gates, budgets, hooks and MCP servers: one function a message,
// which takes plain values and returns the text. It prints nothing and keeps nothing.
//
// testdata/messages.golden has all of them with realistic values, so that they can be read in one place and a change shows in
// review.
package message

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/printable"
)

// When says a time to come as a person would: the time of day, and the day if that is not today.
func When(t time.Time) string {
	t, now := t.Local(), time.Now()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05 MST")
	}
	return t.Format("2006-01-02 15:04 MST")
}

// seconds shows a limit: "300 s".
func seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }

// span shows a duration in at most two units.
func span(d time.Duration) string { return printable.Span(d) }

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// LastLine is the last line of a text: programs come to the point at the end.
func LastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }
