// Package when reads times in the past as people write them.
package when

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // TZ must mean something in a container without zones

	"github.com/belay-run/belay/internal/message"
)

// ago reads 90s, 30m, 2h, 7d, 2w, and sums of them such as 1d12h.
var ago = regexp.MustCompile(`^(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$`)

// Parse reads a time in the past: how long ago, a day (its beginning), a time of day (today's), or a full time. Without
// a zone it is in now's.
func Parse(text string, now time.Time) (time.Time, error) {
	midnight := func(days int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+days, 0, 0, 0, 0, now.Location())
	}
	switch text {
	case "now":
		return now, nil
	case "today":
		return midnight(0), nil
	case "yesterday":
		return midnight(-1), nil
	}
	if m := ago.FindStringSubmatch(text); m != nil && text != "" {
		n := [5]int{}
		for i := range n {
			n[i], _ = strconv.Atoi(m[i+1])
			if n[i] > 100_000_000 {
				return time.Time{}, message.Error(fmt.Sprintf("%q is too long ago", text))
			}
		}
		return now.Add(-time.Duration(n[0]*7+n[1])*24*time.Hour - time.Duration(n[2])*time.Hour -
			time.Duration(n[3])*time.Minute - time.Duration(n[4])*time.Second), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.In(now.Location()), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05", time.DateTime} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"15:04", time.TimeOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location()), nil
		}
	}
	return time.Time{}, message.Error(fmt.Sprintf("%q is not a valid time. Use 2h, 7d, 14:30, today, yesterday, 2026-11-01 or RFC 3339", strings.TrimSpace(text)))
}
