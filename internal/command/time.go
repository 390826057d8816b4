package command

import (
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
)

// ParseUntil reads the time to come of a flag: a duration from now, a time of day, or RFC 3339.
func ParseUntil(flag, text string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		if !t.After(now) {
			return t, message.Error(text + " is in the past")
		}
		return t, nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return nextTimeOfDay(t, now), nil
		}
	}
	d, err := config.ParseDuration(text)
	if err != nil || d == 0 {
		return time.Time{}, message.Error(fmt.Sprintf("%s: %q is not a duration (30m) or a future time (18:00)", flag, text))
	}
	return now.Add(d), nil
}

// ParseTime reads the time of --at: as that of belay gates hold, or a date with a time of day.
func ParseTime(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			text = wallTime(at, now.Location()).Format(time.RFC3339)
			break
		}
	}
	return ParseUntil("--at", text, now)
}

// wallTime is when the clock of a zone shows what t shows. Where it never does, because clocks are set forward, it is when a clock that was not set
// would: [time.Date] may also choose an earlier time, even on the day before.
func wallTime(t time.Time, zone *time.Location) time.Time {
	at := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, zone)
	shown := func(t time.Time) time.Time {
		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	}
	return at.Add(max(0, shown(t).Sub(shown(at))))
}

// nextTimeOfDay is when a clock next shows the time of day of t.
func nextTimeOfDay(t, now time.Time) time.Time {
	y, m, d := now.Date()
	for day := d; ; day++ {
		at := wallTime(time.Date(y, m, day, t.Hour(), t.Minute(), t.Second(), 0, time.UTC), now.Location())
		if at.After(now) {
			return at
		}
	}
}
