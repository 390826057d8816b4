package command

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// A time of day is the next one, in local time, also across a change of the clocks; a date is that date, and one that has passed is refused.
func TestParseTime(t *testing.T) {
	zone := func(name string) *time.Location {
		zone, err := time.LoadLocation(name)
		must.OK(t, err)
		return zone
	}
	berlin, cairo, lordHowe, newYork, apia := zone("Europe/Berlin"), zone("Africa/Cairo"), zone("Australia/Lord_Howe"), zone("America/New_York"), zone("Pacific/Apia")
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		must.OK(t, err)
		return when
	}
	evening := at("2026-11-16T23:30:00+01:00").In(berlin)
	for _, tt := range []struct {
		name, text string
		now        time.Time
		want       string // empty if it is refused
	}{
		{"TimeOfDay", "03:00", evening, "2026-11-17T03:00:00+01:00"},
		{"Today", "23:45", evening, "2026-11-16T23:45:00+01:00"},
		{"Now", "23:30", evening, "2026-11-17T23:30:00+01:00"},
		{"Seconds", "23:30:01", evening, "2026-11-16T23:30:01+01:00"},
		{"Date", "2026-11-17T03:00", evening, "2026-11-17T03:00:00+01:00"},
		{"DateWithSpace", "2026-11-17 03:00", evening, "2026-11-17T03:00:00+01:00"},
		{"UTC", "2026-11-17T03:00:00Z", evening, "2026-11-17T04:00:00+01:00"},
		{"Duration", "2h", evening, "2026-11-17T01:30:00+01:00"},
		{"IntoSummer", "08:00", at("2026-03-28T20:00:00+01:00").In(berlin), "2026-03-29T08:00:00+02:00"},
		{"IntoWinter", "08:00", at("2026-10-24T20:00:00+02:00").In(berlin), "2026-10-25T08:00:00+01:00"},
		{"Skipped", "02:30", at("2026-03-28T20:00:00+01:00").In(berlin), "2026-03-29T03:30:00+02:00"},
		{"SkippedDate", "2026-03-29 02:30", at("2026-03-28T20:00:00+01:00").In(berlin), "2026-03-29T03:30:00+02:00"},
		{"SkippedAtMidnight", "00:30", at("2026-04-23T21:00:00+02:00").In(cairo), "2026-04-24T01:30:00+03:00"},
		{"SkippedHalfHour", "02:10", at("2026-10-03T20:00:00+10:30").In(lordHowe), "2026-10-04T02:40:00+11:00"},
		{"SkippedByAWestZone", "02:30", at("2026-03-07T20:00:00-05:00").In(newYork), "2026-03-08T03:30:00-04:00"},
		{"SkippedAtMidnightByAWestZone", "00:30", at("2026-03-07T20:00:00-05:00").In(zone("America/Havana")), "2026-03-08T01:30:00-04:00"},
		{"SkippedDay", "2011-12-30 12:00", at("2011-12-29T20:00:00-10:00").In(apia), "2011-12-31T12:00:00+14:00"},
		{"PastDate", "2026-11-16T03:00", evening, ""},
		{"Impossible", "25:00", evening, ""},
		{"NoDate", "2026-02-30T03:00", evening, ""},
		{"Word", "tomorrow", evening, ""},
		{"Empty", "", evening, ""},
		{"Zero", "0", evening, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseTime(tt.text, tt.now)
			switch {
			case tt.want == "" && err == nil:
				t.Errorf("it is %v", got)
			case tt.want != "" && (err != nil || !got.Equal(at(tt.want))):
				t.Errorf("%v, %v, want %s", got, err, tt.want)
			}
		})
	}
}

// Whatever is taken for a time is one to come.
func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"03:00", "2h", "2026-11-17T03:00", "1", "9999-12-31 23:59", "-1h", "24:00"} {
		f.Add(text)
	}
	now := time.Date(2026, 11, 16, 23, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if at, err := ParseTime(text, now); err == nil && !at.After(now) {
			t.Errorf("%q is %v", text, at)
		}
	})
}
