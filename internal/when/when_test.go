package when

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

func TestParse(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	must.OK(t, err)
	// The day after clocks were set back: "yesterday" had 25 hours.
	now := time.Date(2026, 10, 26, 9, 30, 0, 0, berlin)
	for text, want := range map[string]string{
		"2h":                   "2026-10-26T07:30:00+01:00",
		"90s":                  "2026-10-26T09:28:30+01:00",
		"1d12h":                "2026-10-24T22:30:00+02:00", // 36 hours, whatever the clock says
		"1w":                   "2026-10-19T10:30:00+02:00",
		"0s":                   "2026-10-26T09:30:00+01:00",
		"now":                  "2026-10-26T09:30:00+01:00",
		"today":                "2026-10-26T00:00:00+01:00",
		"yesterday":            "2026-10-25T00:00:00+02:00",
		"08:15":                "2026-10-26T08:15:00+01:00",
		"23:59:59":             "2026-10-26T23:59:59+01:00",
		"2026-10-25":           "2026-10-25T00:00:00+02:00",
		"2026-03-29 01:30":     "2026-03-29T01:30:00+01:00",
		"2026-11-01T14:30":     "2026-11-01T14:30:00+01:00",
		"2026-11-01T14:30:00Z": "2026-11-01T15:30:00+01:00",
		"2026-11-01 14:30:05":  "2026-11-01T14:30:05+01:00",
	} {
		got, err := Parse(text, now)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s is %v (%v), want %s", text, got.Format(time.RFC3339), err, want)
		}
	}
	for _, text := range []string{"", "banana", "2 h", "-2h", "h", "2026-13-01", "25:00", "99999999999d", "1h2d"} {
		if got, err := Parse(text, now); err == nil {
			t.Errorf("%q was taken as %v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"2h", "7d", "14:30", "yesterday", "2026-11-01", "2026-11-01T14:30:00Z", "1w2d3h4m5s"} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if at, err := Parse(text, now); err == nil && at.IsZero() && text != "0001-01-01T00:00:00Z" {
			t.Logf("%q is the zero time", text)
		}
	})
}
