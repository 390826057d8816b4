package verdict

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxDigits keeps a number within what a float64 holds exactly enough.
const maxDigits = 18

// number reads a decimal number without sign or exponent.
func number(s string) (n float64, rest string, ok bool) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	end := digits
	if digits > 0 && digits+1 < len(s) && s[digits] == '.' && isDigit(s[digits+1]) {
		end++
		end += len(s[end:]) - len(strings.TrimLeft(s[end:], "0123456789"))
	}
	if digits == 0 || digits > maxDigits || end > 2*maxDigits {
		return 0, s, false
	}
	n, err := strconv.ParseFloat(s[:end], 64)
	return n, s[end:], err == nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// ends reports whether a value is over where rest begins, so that "17" is not
// found in "17abc", "17.0.0.1", "17:35" or "17/20".
func ends(rest string) bool {
	if rest == "" {
		return true
	}
	c := rest[0]
	if isNameByte(c) || c == '%' {
		return false
	}
	if c == '.' || c == ':' || c == '/' || c == '+' {
		return len(rest) == 1 || !isAlnum(rest[1])
	}
	return true
}

// scale returns n units as a duration, and false if that exceeds maxHint.
func scale(n float64, unit time.Duration) (time.Duration, bool) {
	d := n * float64(unit)
	if !(d >= 0 && d <= float64(maxHint)) { // NaN included
		return 0, false
	}
	return time.Duration(math.Round(d)), true
}

// numberHint reads a number of units, or a duration that names its own.
func numberHint(s string, unit time.Duration) (Hint, bool) {
	n, rest, ok := number(s)
	if !ok || !ends(rest) {
		return durationHint(s)
	}
	d, ok := scale(n, unit)
	return Hint{After: d}, ok && d > 0
}

// durationHint reads a duration as programs and people write it.
func durationHint(s string) (Hint, bool) {
	d, rest, ok := duration(s)
	return Hint{After: d}, ok && d > 0 && ends(rest)
}

// spanHint reads a duration, also as a clock shows it: "02:12:45", and with days "5.03:23:11", as .NET writes it.
func spanHint(s string) (Hint, bool) {
	m := spanRE().FindStringSubmatch(s[:min(len(s), maxClock)])
	if m == nil || !ends(s[len(m[0]):]) || atoi(m[3]) > 59 || atoi(m[4]) > 59 {
		return durationHint(s)
	}
	total := time.Duration(atoi(m[1]))*24*time.Hour + time.Duration(atoi(m[2]))*time.Hour + time.Duration(atoi(m[3]))*time.Minute + time.Duration(atoi(m[4]))*time.Second
	return Hint{After: total}, total > 0 && total <= maxHint
}

var spanRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:(\d{1,3})\.)?(\d{1,3}):(\d\d):(\d\d)(?:\.\d+)?`) })

// duration reads "17s", "1h30m", "6m0s", "3.3 s", "3 days 4 hours", "2 hours
// and 5 minutes". Units must get smaller, so that it stops before "10s 2 minutes
// ago".
func duration(s string) (total time.Duration, rest string, ok bool) {
	if d, rest, ok := roundDuration(s); ok {
		return d, rest, true
	}
	smallest := maxHint
	for {
		n, after, isNumber := number(s)
		if !isNumber {
			break
		}
		word, after := wordAt(strings.TrimLeft(after, " \t\n"))
		unit := unitOf(word)
		if unit == 0 || unit >= smallest {
			break
		}
		d, inRange := scale(n, unit)
		if !inRange || total > maxHint-d {
			return 0, s, false
		}
		total += d
		smallest, rest, ok = unit, after, true
		s = strings.TrimLeft(after, " \t\n,")
		s = strings.TrimPrefix(s, "and ")
	}
	return total, rest, ok
}

// roundDuration reads what libraries print instead of a 1.
func roundDuration(s string) (d time.Duration, rest string, ok bool) {
	for _, prefix := range [...]string{"less than a ", "an ", "a "} {
		if len(s) < len(prefix) || !foldEqual(s[:len(prefix)], prefix) {
			continue
		}
		word, rest := wordAt(s[len(prefix):])
		switch unit := unitOf(word); unit {
		case time.Minute, time.Hour, 24 * time.Hour:
			return unit, rest, true
		}
	}
	return 0, s, false
}

// wordAt splits off the letters that s starts with, in lower case.
func wordAt(s string) (word, rest string) {
	end := 0
	for end < len(s) && end < maxName && isAlnum(s[end]) && !isDigit(s[end]) {
		end++
	}
	return strings.ToLower(s[:end]), s[end:]
}

func unitOf(word string) time.Duration {
	switch word {
	case "ms", "msec", "msecs", "millisecond", "milliseconds":
		return time.Millisecond
	case "s", "sec", "secs", "second", "seconds":
		return time.Second
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute
	case "h", "hr", "hrs", "hour", "hours":
		return time.Hour
	case "d", "day", "days":
		return 24 * time.Hour
	case "w", "wk", "week", "weeks":
		return 7 * 24 * time.Hour
	}
	return 0
}
