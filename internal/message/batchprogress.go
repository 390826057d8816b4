package message

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/printable"
)

// BatchProgress is how a batch stands.
type BatchProgress struct {
	Total, Done, Failed, Skipped, Running, Paused int
	Cost, Expected                                float64       // in US dollars; what is expected is 0 if that is not known
	Left                                          time.Duration // how long it will still take; 0 if that is not known
	Until                                         time.Time     // when the limit lifts that all wait for
	In                                            time.Duration // how long that is from now; 0 if it is over
	Doing                                         string        // what one of those that run does
}

// BatchNow says how a batch stands, in one line.
func BatchNow(p BatchProgress) string {
	return batchLine(fmt.Sprintf("%d of %d done", p.Done, p.Total), p, 0)
}

// BatchDoing says for how long one of the tasks has been running, and what it does if that is known.
func BatchDoing(task, doing string, elapsed time.Duration) string {
	if doing != "" {
		task += ": " + doing
	}
	return fmt.Sprintf("%s (%s)", task, printable.Span(elapsed.Truncate(time.Second)))
}

// BatchShort says how a batch stands, where there is little room.
func BatchShort(p BatchProgress) string {
	parts := []string{fmt.Sprintf("%d/%d done", p.Done, p.Total)}
	if p.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", p.Failed))
	}
	if p.Running > 0 {
		parts = append(parts, fmt.Sprintf("%d running", p.Running))
	}
	switch {
	case !p.Until.IsZero():
		parts = append(parts, "limit lifts in "+printable.Span(p.In))
	case p.Left > 0:
		parts = append(parts, printable.Span(p.Left)+" left")
	}
	switch {
	case p.Cost > 0 && p.Expected > p.Cost:
		parts = append(parts, printable.Dollars(p.Cost)+" of "+printable.Dollars(p.Expected))
	case p.Cost > 0:
		parts = append(parts, printable.Dollars(p.Cost))
	}
	if p.Doing != "" {
		parts = append(parts, p.Doing)
	}
	return strings.Join(parts, ", ")
}

// batchLine is a line that begins with how many tasks are done. unfinished are those of a batch that has ended.
func batchLine(done string, p BatchProgress, unfinished int) string {
	parts := []string{done}
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(p.Failed, "failed")
	add(p.Skipped, "skipped")
	add(p.Running, "running")
	add(p.Paused, "waiting for a limit")
	add(unfinished, "unfinished")
	if !p.Until.IsZero() {
		parts = append(parts, "limit lifts at "+When(p.Until))
		if p.In > 0 {
			parts[len(parts)-1] += " (in " + printable.Span(p.In) + ")"
		}
	} else if p.Left > 0 {
		parts = append(parts, "about "+printable.Span(p.Left)+" left")
	}
	switch {
	case p.Cost > 0 && p.Expected > p.Cost:
		parts = append(parts, fmt.Sprintf("%s of about %s", printable.Dollars(p.Cost), printable.Dollars(p.Expected)))
	case p.Cost > 0:
		parts = append(parts, printable.Dollars(p.Cost))
	}
	if p.Doing != "" {
		parts = append(parts, p.Doing)
	}
	return strings.Join(parts, ", ")
}

// BatchEnd says what has become of a batch.
func BatchEnd(p BatchProgress, took time.Duration) string {
	p.Left, p.Until, p.Doing, p.Running, p.Paused = 0, time.Time{}, "", 0, 0
	return batchLine(fmt.Sprintf("%d of %d done in %s", p.Done, p.Total, printable.Span(took)), p, p.Total-p.Done-p.Failed-p.Skipped)
}
