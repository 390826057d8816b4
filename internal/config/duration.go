package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// MaxDuration is the longest that makes sense anywhere: a year and a day.
const MaxDuration = 366 * 24 * time.Hour

// ParseDuration reads 30s, 1h30m, 2d or plain seconds.
func ParseDuration(text string) (time.Duration, error) {
	bad := func(why string) (time.Duration, error) {
		return 0, fmt.Errorf("%q %s; write 30s, 5m, 1h30m or plain seconds", text, why)
	}
	s := strings.TrimSpace(text)
	if seconds, err := strconv.ParseFloat(s, 64); err == nil {
		switch {
		case math.IsNaN(seconds) || math.IsInf(seconds, 0):
			return bad("is not a duration")
		case seconds < 0:
			return bad("is negative")
		case seconds > MaxDuration.Seconds():
			return bad("is longer than a year")
		}
		return time.Duration(seconds * float64(time.Second)), nil
	}
	var days time.Duration
	if n, rest, ok := strings.Cut(s, "d"); ok {
		if whole, err := strconv.ParseUint(n, 10, 16); err == nil {
			days = time.Duration(whole) * 24 * time.Hour
			if s = rest; s == "" {
				s = "0s"
			}
		}
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return bad("is not a duration")
	case d < 0:
		return bad("is negative")
	case days > MaxDuration || d > MaxDuration-days:
		return bad("is longer than a year")
	}
	return days + d, nil
}
