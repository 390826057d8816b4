package verdict

import (
	"strings"
	"time"
)

// ParseRetryAfter reads the value of a Retry-After header: seconds, also with a
// fraction, or an HTTP-date in any of the three forms of RFC 9110. Services
// were seen to send an epoch as well. A wait of zero, in the negative or beyond
// a year is no hint; a date in the past is one, with nothing left to wait.
func ParseRetryAfter(value string, now time.Time) (Hint, bool) {
	value = strings.TrimSpace(value)
	if n, rest, ok := number(value); ok {
		if rest != "" {
			return Hint{}, false
		}
		return secondsOrEpoch(n, now)
	}
	at, rest, ok := httpDate(value)
	if !ok || rest != "" {
		return Hint{}, false
	}
	return plausible(Hint{At: at}, now)
}

// retryAfterHint reads such a value at the start of s, or a duration or moment
// in its place.
func retryAfterHint(s string, now time.Time) (Hint, bool) {
	if n, rest, ok := number(s); ok && ends(rest) {
		return secondsOrEpoch(n, now)
	}
	if h, ok := spanHint(s); ok {
		return h, true
	}
	return momentHint(s, now)
}

func secondsOrEpoch(n float64, now time.Time) (Hint, bool) {
	if at, ok := epoch(n); ok {
		return plausible(Hint{At: at}, now)
	}
	d, ok := scale(n, time.Second)
	return Hint{After: d}, ok && d > 0
}

// momentHint reads an epoch, an HTTP-date or an ISO 8601 time at the start of s.
func momentHint(s string, now time.Time) (Hint, bool) {
	if n, rest, ok := number(s); ok && ends(rest) {
		at, ok := epoch(n)
		if !ok {
			return Hint{}, false
		}
		return plausible(Hint{At: at}, now)
	}
	if at, rest, ok := httpDate(s); ok && ends(rest) {
		return plausible(Hint{At: at}, now)
	}
	return isoHint(s, now)
}

// plausible drops a moment that lies too far ahead. One in the past stays: a
// saved outcome is read long after its reset.
func plausible(h Hint, now time.Time) (Hint, bool) {
	if h.At.After(now.Add(maxHint)) {
		return Hint{}, false
	}
	return h, true
}

// epoch takes seconds and milliseconds since 1970. Seconds begin in 2001, at ten
// digits, and milliseconds at thirteen; anything else is a count or an id.
func epoch(n float64) (time.Time, bool) {
	switch {
	case n >= 1e9 && n < 1e10:
		return time.UnixMilli(int64(n * 1e3)).UTC(), true
	case n >= 1e12 && n < 1e13:
		return time.UnixMilli(int64(n)).UTC(), true
	}
	return time.Time{}, false
}

// httpDate reads the three forms of RFC 9110, section 5.6.7.
func httpDate(s string) (at time.Time, rest string, ok bool) {
	const longest = len("Wednesday, 21-Oct-26 07:28:00 GMT")
	head := s[:min(len(s), longest)]
	if end := indexFold(head, " gmt", 0); end >= 0 {
		for _, layout := range [...]string{"Mon, 02 Jan 2006 15:04:05", "Monday, 02-Jan-06 15:04:05"} {
			if at, err := time.Parse(layout, head[:end]); err == nil {
				return at, s[end+len(" gmt"):], true
			}
		}
	}
	if end := len(time.ANSIC); len(s) >= end {
		if at, err := time.Parse(time.ANSIC, s[:end]); err == nil {
			return at, s[end:], true
		}
	}
	return time.Time{}, s, false
}

// isoHint reads 2026-11-17T03:00:00Z, with a space or " at " for the T, a
// fraction, an offset, "UTC", or no zone at all.
func isoHint(s string, now time.Time) (Hint, bool) {
	const day, minute = "2006-01-02", "15:04"
	if len(s) > len(day) && strings.HasPrefix(s[len(day):], " at ") {
		s = s[:len(day)] + s[len(day)+len(" at"):]
	}
	if len(s) < len(day+"T"+minute) || s[len(day)] != 'T' && s[len(day)] != ' ' {
		return Hint{}, false
	}
	end := len(day + "T" + minute)
	layout := day + s[len(day):len(day)+1] + minute
	if strings.HasPrefix(s[end:], ":") {
		layout += ":05" // which takes a fraction too
		end += len(":05")
		if end < len(s) && s[end] == '.' {
			end += len(s[end:]) - len(strings.TrimLeft(s[end:], ".0123456789"))
			end -= len(s[:end]) - len(strings.TrimRight(s[:end], ".")) // a full stop
		}
	}
	if end > len(s) {
		return Hint{}, false
	}
	wall, err := time.Parse(layout, s[:end])
	if err != nil {
		return Hint{}, false
	}
	z, ok := zoneAfter(s[end:], now)
	if !ok {
		return Hint{}, false
	}
	return plausible(Hint{At: instants(wall, z.loc)[0], Inferred: !z.named}, now)
}
