package printable

import (
	"fmt"
	"time"
)

// Span shows a duration in at most two units: 350ms, 1.2s, 4m10s, 10m, 3h5m.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	d = d.Round(time.Second)
	unit, small, format := time.Minute, time.Second, "%dm%ds"
	switch {
	case d < time.Minute:
		return d.String()
	case d >= time.Hour:
		d = d.Round(time.Minute)
		unit, small, format = time.Hour, time.Minute, "%dh%dm"
	}
	if d%unit == 0 { // 10m, not 10m0s
		return fmt.Sprintf(format[:3], d/unit)
	}
	return fmt.Sprintf(format, d/unit, d%unit/small)
}
