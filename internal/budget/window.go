package budget

import (
	"fmt"
	"time"
)

// Window is how long a limit holds before it begins anew: a calendar day, an ISO week or a month, in the zone of the time
// that it is asked about. The zero Window never ends.
type Window string

const (
	Day   Window = "day"
	Week  Window = "week" // from Monday on, as ISO 8601 has it
	Month Window = "month"
)

// Windows are those that have an end, the shortest first.
var Windows = []Window{Day, Week, Month}

// ParseWindow reads a window's name.
func ParseWindow(text string) (Window, error) {
	for _, w := range Windows {
		if text == string(w) {
			return w, nil
		}
	}
	return "", fmt.Errorf("%q is not day, week or month", text)
}

// dateOf is the day of a calendar that it is at t, in UTC, where no day is missing. What is spent is kept by the day, so that every window is a sum
// of days: a clock that is set back, a day of 23 or 25 hours and one that does not begin at midnight need no care.
func dateOf(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// bounds are the first day of the window that now is in, and the first day after it.
func (w Window) bounds(now time.Time) (first, next time.Time) {
	today := dateOf(now)
	switch w {
	case Week:
		first = today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
		return first, first.AddDate(0, 0, 7)
	case Month:
		first = today.AddDate(0, 0, 1-today.Day())
		return first, first.AddDate(0, 1, 0)
	}
	return today, today.AddDate(0, 0, 1)
}

// days are the first day of the window that now is in, and the first day after it, as entries have them. Without a window they are
// before and after all.
func (w Window) days(now time.Time) (first, next string) {
	if w == "" {
		return "", "~"
	}
	from, until := w.bounds(now)
	return from.Format(time.DateOnly), until.Format(time.DateOnly)
}

// Ends is the moment at which the window ends that now is in; zero if it never ends.
func (w Window) Ends(now time.Time) time.Time {
	if w == "" {
		return time.Time{}
	}
	_, next := w.bounds(now)
	return beginning(now, next)
}

// beginning is the first moment after now, in now's zone, that is on a date or a later one. That is not always midnight:
// clocks are set forward at midnight in some zones, and some have left out a whole day.
func beginning(now, day time.Time) time.Time {
	for from := now; ; {
		_, offset := from.Zone()
		_, until := from.ZoneBounds()
		at := day.Add(-time.Duration(offset) * time.Second)
		switch {
		case at.Before(from): // the clock was set forward past it
			return from
		case until.IsZero() || at.Before(until):
			return at.In(now.Location())
		}
		from = until
	}
}
