package config

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
)

// MaxDuration is the longest that makes sense anywhere: a year and a day.
const MaxDuration = 366 * 24 * time.Hour

// ParseDuration reads 30s, 1h30m, 2d or plain seconds.
func ParseDuration(text string) (time.Duration, error) {
	bad := func(say func(string) string) (time.Duration, error) {
		return 0, message.Error(say(text))
	}
	s := strings.TrimSpace(text)
	if seconds, err := strconv.ParseFloat(s, 64); err == nil {
		switch {
		case math.IsNaN(seconds) || math.IsInf(seconds, 0):
			return bad(message.NotADuration)
		case seconds < 0:
			return bad(message.NegativeDuration)
		case seconds > MaxDuration.Seconds():
			return bad(message.DurationTooLong)
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
		return bad(message.NotADuration)
	case d < 0:
		return bad(message.NegativeDuration)
	case days > MaxDuration || d > MaxDuration-days:
		return bad(message.DurationTooLong)
	}
	return days + d, nil
}
