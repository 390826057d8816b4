package budget_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/test/must"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Skipf("no time zones here: %v", err)
	}
	return loc
}

func TestWindow_Ends(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		zone      string
		window    budget.Window
		now, want string // RFC 3339, with the offset of the zone at that time
	}{
		"a day":                                 {"Europe/Berlin", budget.Day, "2026-11-16T15:00:00+01:00", "2026-11-17T00:00:00+01:00"},
		"its first moment":                      {"Europe/Berlin", budget.Day, "2026-11-16T00:00:00+01:00", "2026-11-17T00:00:00+01:00"},
		"its last moment":                       {"Europe/Berlin", budget.Day, "2026-11-16T23:59:59+01:00", "2026-11-17T00:00:00+01:00"},
		"a day of 23 hours":                     {"Europe/Berlin", budget.Day, "2026-03-29T00:30:00+01:00", "2026-03-30T00:00:00+02:00"},
		"a day of 25 hours":                     {"Europe/Berlin", budget.Day, "2026-10-25T00:30:00+02:00", "2026-10-26T00:00:00+01:00"},
		"the hour that comes twice, first":      {"Europe/Berlin", budget.Day, "2026-10-25T02:30:00+02:00", "2026-10-26T00:00:00+01:00"},
		"the hour that comes twice, second":     {"Europe/Berlin", budget.Day, "2026-10-25T02:30:00+01:00", "2026-10-26T00:00:00+01:00"},
		"the next day has no midnight":          {"America/Sao_Paulo", budget.Day, "2018-11-03T22:00:00-03:00", "2018-11-04T01:00:00-02:00"},
		"a day that had no midnight":            {"America/Sao_Paulo", budget.Day, "2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"},
		"the hour before midnight comes twice":  {"America/Sao_Paulo", budget.Day, "2018-02-17T23:30:00-02:00", "2018-02-18T00:00:00-03:00"},
		"midnight comes twice":                  {"America/Havana", budget.Day, "2026-10-31T12:00:00-04:00", "2026-11-01T00:00:00-04:00"},
		"the next day is left out":              {"Pacific/Apia", budget.Day, "2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00"},
		"a quarter of an hour":                  {"Australia/Lord_Howe", budget.Day, "2026-04-05T01:00:00+11:00", "2026-04-06T00:00:00+10:30"},
		"no summer time":                        {"Asia/Kathmandu", budget.Day, "2026-07-01T23:00:00+05:45", "2026-07-02T00:00:00+05:45"},
		"a week from Monday":                    {"Europe/Berlin", budget.Week, "2026-11-16T00:00:00+01:00", "2026-11-23T00:00:00+01:00"},
		"a week to Sunday":                      {"Europe/Berlin", budget.Week, "2026-11-22T23:59:59+01:00", "2026-11-23T00:00:00+01:00"},
		"a week over the turn of the year":      {"Europe/Berlin", budget.Week, "2027-01-01T12:00:00+01:00", "2027-01-04T00:00:00+01:00"},
		"a week in which the clock is set":      {"Europe/Berlin", budget.Week, "2026-03-25T12:00:00+01:00", "2026-03-30T00:00:00+02:00"},
		"a month":                               {"Europe/Berlin", budget.Month, "2026-11-16T15:00:00+01:00", "2026-12-01T00:00:00+01:00"},
		"the last day of a month":               {"Europe/Berlin", budget.Month, "2026-01-31T15:00:00+01:00", "2026-02-01T00:00:00+01:00"},
		"December":                              {"Europe/Berlin", budget.Month, "2026-12-31T23:59:59+01:00", "2027-01-01T00:00:00+01:00"},
		"a month in which the clock is set":     {"Europe/Berlin", budget.Month, "2026-10-02T12:00:00+02:00", "2026-11-01T00:00:00+01:00"},
		"February of a leap year":               {"UTC", budget.Month, "2028-02-29T12:00:00Z", "2028-03-01T00:00:00Z"},
		"a clock far in the future has no rule": {"UTC", budget.Day, "9998-12-31T12:00:00Z", "9999-01-01T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339, tt.now)
			must.OK(t, err)
			got := tt.window.Ends(now.In(zone(t, tt.zone)))
			if got.Format(time.RFC3339) != tt.want {
				t.Errorf("%s", got.Format(time.RFC3339))
			}
		})
	}
}

// The end of a window is the first moment of which the date is another, whatever the zone does: looked at on days on
// which clocks were set.
func TestWindow_EndsWhereTheDateChanges(t *testing.T) {
	t.Parallel()
	days := 0
	for _, name := range []string{"Europe/Berlin", "Europe/London", "Europe/Lisbon", "Atlantic/Azores", "America/New_York", "America/Sao_Paulo",
		"America/Havana", "America/Asuncion", "America/Santiago", "America/Scoresbysund", "America/St_Johns", "Africa/Cairo", "Africa/Casablanca",
		"Asia/Amman", "Asia/Beirut", "Asia/Gaza", "Asia/Tehran", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham", "Pacific/Kiritimati"} {
		loc := zone(t, name)
		for at := time.Date(2009, 1, 1, 0, 0, 0, 0, loc); at.Year() < 2030; {
			_, change := at.ZoneBounds()
			if change.IsZero() || change.Year() >= 2030 {
				break
			}
			for now := change.Add(-30 * time.Hour); now.Before(change.Add(30 * time.Hour)); now = now.Add(5 * time.Hour) {
				now := now.In(loc)
				want := now
				for y, m, d := now.Date(); ; want = want.Add(time.Minute) {
					if wy, wm, wd := want.Date(); wy != y || wm != m || wd != d {
						break
					}
				}
				want = want.Add(-want.Sub(want.Truncate(time.Minute)))
				if got := budget.Day.Ends(now); !got.Equal(want) {
					t.Fatalf("%s: the day of %v ends at %v, not %v", name, now, got, want)
				}
				days++
			}
			at = change.In(loc)
		}
	}
	t.Logf("%d moments", days)
}

func TestParseWindow(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "hour", "Day", "days", "year"} {
		if w, err := budget.ParseWindow(text); err == nil {
			t.Errorf("%q is %q", text, w)
		}
	}
	if w, err := budget.ParseWindow("week"); w != budget.Week || err != nil {
		t.Error(w, err)
	}
}
