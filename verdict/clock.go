package verdict

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// clockRE matches "3pm", "14:05", "Nov 17, 3am", "Nov 18th, 2026 12:18 AM",
// "10 July 2026, 11:52", "Monday 9am", "tomorrow at 9:30 am".
var clockRE = sync.OnceValue(func() *regexp.Regexp {
	const (
		month   = `(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?`
		day     = `(\d{1,2})(?:st|nd|rd|th)?`
		year    = `(?:,?\s+(\d{4}))?`
		weekday = `(?:(today|tomorrow|sun|mon|tue|wed|thu|fri|sat)(?:s|nes|rs?|ur)?(?:day)?`
		joint   = `(?:,?\s+at|,)?\s+)?`
		date    = `(?:(?:` + month + `\s+` + day + `|` + day + `\s+` + month + `)` + year
		clock   = `(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?(?:\s?([ap])\.?m\b\.?)?`
	)
	return regexp.MustCompile(`^(?i:` + weekday + joint + date + joint + clock + `)`)
})

// The groups of clockRE.
const (
	gWeekday = iota + 1
	gMonth
	gDay
	gDayFirst
	gMonthSecond
	gYear
	gHour
	gMinute
	gSecond
	gHalf
)

// maxClock is longer than any clock time with its date.
const maxClock = 64

// clockHint reads a clock time at the start of s, with or without date and
// zone.
func clockHint(s string, now time.Time) (Hint, bool) {
	m := clockRE().FindStringSubmatch(s[:min(len(s), maxClock)])
	if m == nil {
		return Hint{}, false
	}
	clock, ok := clockOf(m)
	if !ok {
		return Hint{}, false
	}
	z, ok := zoneAfter(s[len(m[0]):], now)
	if !ok {
		return Hint{}, false
	}
	month, day := m[gMonth]+m[gMonthSecond], m[gDay]+m[gDayFirst]
	if month == "" {
		return Hint{At: nextClock(m[gWeekday], clock, now.In(z.loc)), Inferred: true}, true
	}
	at, ok := onDate(monthOf(month), atoi(day), atoi(m[gYear]), clock, now.In(z.loc))
	if !ok {
		return Hint{}, false
	}
	return plausible(Hint{At: at, Inferred: !z.named}, now)
}

// clockOf returns the time since midnight.
func clockOf(m []string) (time.Duration, bool) {
	hour, minute, second := atoi(m[gHour]), atoi(m[gMinute]), atoi(m[gSecond])
	switch half := strings.ToLower(m[gHalf]); {
	case half == "":
		if m[gMinute] == "" || hour > 23 { // "resets 3" may be anything
			return 0, false
		}
	case hour < 1 || hour > 12:
		return 0, false
	default:
		hour %= 12
		if half == "p" {
			hour += 12
		}
	}
	if minute > 59 || second > 59 {
		return 0, false
	}
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second, true
}

// atoi reads the digits that clockRE let through; none are 0.
func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// justNow is how long a clock time stays the present one. CLIs drop the seconds,
// so that at 2:21:10 "resets 2:21am" can mean 14 seconds from now, and never
// means tomorrow.
const justNow = time.Minute

// nextClock returns the next time that clocks show this, on that day of the week
// if one is given. The zone is now's.
func nextClock(weekday string, clock time.Duration, now time.Time) time.Time {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	switch weekday = strings.ToLower(weekday); weekday {
	case "today":
		return instants(today.Add(clock), now.Location())[0]
	case "tomorrow":
		return instants(today.AddDate(0, 0, 1).Add(clock), now.Location())[0]
	}
	for ahead := 0; ; ahead++ { // a week and a day at most
		day := today.AddDate(0, 0, ahead)
		if !strings.HasPrefix(strings.ToLower(day.Weekday().String()), weekday) {
			continue
		}
		for _, at := range instants(day.Add(clock), now.Location()) {
			if at.After(now.Add(-justNow)) {
				return at
			}
		}
	}
}

// onDate returns the moment at which clocks show this on that date. Without a
// year it is the one nearest to now: a date that has just passed is not meant
// for the next year. The zone is now's.
func onDate(month time.Month, day, year int, clock time.Duration, now time.Time) (time.Time, bool) {
	years := []int{year}
	if year == 0 {
		years = []int{now.Year() - 1, now.Year(), now.Year() + 1}
	}
	var best time.Time
	for _, y := range years {
		date := time.Date(y, month, day, 0, 0, 0, 0, time.UTC)
		if date.Day() != day {
			continue // February 30th, or the 29th of another year
		}
		at := instants(date.Add(clock), now.Location())[0]
		if best.IsZero() || at.Sub(now).Abs() < best.Sub(now).Abs() {
			best = at
		}
	}
	return best, !best.IsZero()
}

// monthOf returns the month whose name starts with these three letters.
func monthOf(name string) time.Month {
	const names = "janfebmaraprmayjunjulaugsepoctnovdec"
	return time.Month(strings.Index(names, strings.ToLower(name))/3 + 1)
}
