package verdict_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

func TestParseHint_ClockTimes(t *testing.T) {
	testHints(t, now, []hintTest{
		{"You've hit your session limit · resets 2:21am (UTC)", inferred("2026-11-15T02:21:00Z")},
		{"You’ve hit your session limit ∙ resets 2:21am (UTC)", inferred("2026-11-15T02:21:00Z")},
		{"resets 3pm (Europe/Berlin)", inferred("2026-11-15T14:00:00Z")},
		{"resets 12am (Europe/Berlin)", inferred("2026-11-15T23:00:00Z")},
		{"resets 12pm (Europe/Berlin)", inferred("2026-11-15T11:00:00Z")},
		{"resets at 3:30 PM (America/New_York)", inferred("2026-11-15T20:30:00Z")},
		{"resets at 8:30 p.m. America/New_York.", inferred("2026-11-15T01:30:00Z")},
		{"Your limit will reset at 1pm (Etc/GMT+5).", inferred("2026-11-15T18:00:00Z")},
		{"resets 3pm PST", inferred("2026-11-15T23:00:00Z")},
		{"resets 3pm (UTC+2)", inferred("2026-11-15T13:00:00Z")},
		{"resets 15:00 GMT-05:30", inferred("2026-11-15T20:30:00Z")},
		{"resets 15:00+0200", inferred("2026-11-15T13:00:00Z")},
		{"resets 3:05am", inferred("2026-11-15T03:05:00Z")},
		{"Resets: 3:05am", inferred("2026-11-15T03:05:00Z")},
		{"resets 3:05am (local time)", inferred("2026-11-15T03:05:00Z")},
		{"resets 3:05am (local)", inferred("2026-11-15T03:05:00Z")},
		{"resets 3:05am (in 3 hours)", inferred("2026-11-15T03:05:00Z")},
		{"resets 3:05am AND not before", inferred("2026-11-15T03:05:00Z")},
		{"try again at 14:05", inferred("2026-11-15T14:05:00Z")},
		{"try again at 14:05:30, please", inferred("2026-11-15T14:05:30Z")},
		{"or try again at 2:12 AM.", inferred("2026-11-15T02:12:00Z")},
		{"please wait until 14:05", inferred("2026-11-15T14:05:00Z")},
		{"try again after 3pm UTC", inferred("2026-11-15T15:00:00Z")},

		{"resets 12:10am (UTC)", inferred("2026-11-16T00:10:00Z")}, // ten minutes ago, so tomorrow
		{"resets 12:20am (UTC)", inferred("2026-11-15T00:20:00Z")}, // this very minute
		{"resets today at 9am (UTC)", inferred("2026-11-15T09:00:00Z")},
		{"resets tomorrow at 9am (UTC)", inferred("2026-11-16T09:00:00Z")},
		{"resets Monday 9am", inferred("2026-11-16T09:00:00Z")},
		{"resets on Thurs at 9am", inferred("2026-11-19T09:00:00Z")},
		{"resets Sunday 9am", inferred("2026-11-15T09:00:00Z")},
		{"resets Sunday 12:10am", inferred("2026-11-22T00:10:00Z")},
		{"resets Saturday, 9am (UTC)", inferred("2026-11-21T09:00:00Z")},

		{"resets Nov 17, 3am (UTC)", at("2026-11-17T03:00:00Z")},
		{"Weekly limit reached ∙ resets Nov 19, 1:52am (UTC)", at("2026-11-19T01:52:00Z")},
		{"Weekly limit reached ∙ resets Nov 19, 1:52am", inferred("2026-11-19T01:52:00Z")},
		{"resets Tue, Nov 17 at 3am (PDT)", at("2026-11-17T10:00:00Z")},
		{"resets November 17, 2026 at 3am (Europe/Berlin)", at("2026-11-17T02:00:00Z")},
		{"try again at Nov 18th, 2026 12:18 AM.", inferred("2026-11-18T00:18:00Z")},
		{"try again at 18 Nov 2026, 11:52 UTC", at("2026-11-18T11:52:00Z")},
		{"resets Jan 2, 3am (UTC)", at("2027-01-02T03:00:00Z")},   // the next year
		{"resets Nov 14, 3am (UTC)", at("2026-11-14T03:00:00Z")},  // just passed
		{"resets Sept. 1, 3am (UTC)", at("2026-09-01T03:00:00Z")}, // passed
	})
}

func TestParseHint_ClockTimesAreThoseOfNow(t *testing.T) {
	testHints(t, now.In(location(t, "America/New_York")), []hintTest{
		{"resets 8pm", inferred("2026-11-15T01:00:00Z")}, // it is 7:20pm on Saturday there
		{"resets Sunday 9am", inferred("2026-11-15T14:00:00Z")},
		{"try again at Nov 18th, 2026 12:18 AM.", inferred("2026-11-18T05:18:00Z")},
		{"try again at 2026-11-18 12:18", inferred("2026-11-18T17:18:00Z")},
		{"resets 8pm (UTC)", inferred("2026-11-15T20:00:00Z")},
	})
}

func TestParseHint_LeapDay(t *testing.T) {
	testHints(t, time.Date(2027, 12, 1, 0, 0, 0, 0, time.UTC), []hintTest{
		{"resets Feb 29, 3am (UTC)", at("2028-02-29T03:00:00Z")},
	})
}

func TestParseHint_DaylightSaving(t *testing.T) {
	tests := []struct {
		name string
		now  string
		text string
		want string
	}{
		// Berlin, 29 March 2026: at 2:00 CET clocks go to 3:00 CEST.
		{"BerlinForward/AcrossTheSwitch", "2026-03-28T23:00:00Z", "resets 5am (Europe/Berlin)", "2026-03-29T03:00:00Z"},
		{"BerlinForward/BeforeTheSwitch", "2026-03-28T23:00:00Z", "resets 1:30am (Europe/Berlin)", "2026-03-29T00:30:00Z"},
		{"BerlinForward/NoSuchTime", "2026-03-28T23:00:00Z", "resets 2:30am (Europe/Berlin)", "2026-03-29T01:30:00Z"},
		{"BerlinForward/NoSuchTimePassed", "2026-03-29T01:45:00Z", "resets 2:30am (Europe/Berlin)", "2026-03-30T00:30:00Z"},
		{"BerlinForward/TheDayBefore", "2026-03-28T12:00:00Z", "resets Mar 29, 3am (Europe/Berlin)", "2026-03-29T01:00:00Z"},
		// Berlin, 25 October 2026: at 3:00 CEST clocks go to 2:00 CET.
		{"BerlinBack/AcrossTheSwitch", "2026-10-24T22:30:00Z", "resets 5am (Europe/Berlin)", "2026-10-25T04:00:00Z"},
		{"BerlinBack/Twice", "2026-10-24T22:30:00Z", "resets 2:30am (Europe/Berlin)", "2026-10-25T00:30:00Z"},
		{"BerlinBack/TheSecondTime", "2026-10-25T00:45:00Z", "resets 2:30am (Europe/Berlin)", "2026-10-25T01:30:00Z"},
		{"BerlinBack/BothPassed", "2026-10-25T01:45:00Z", "resets 2:30am (Europe/Berlin)", "2026-10-26T01:30:00Z"},
		{"BerlinBack/Monday", "2026-10-24T12:00:00Z", "resets Monday 9am (Europe/Berlin)", "2026-10-26T08:00:00Z"},
		// New York, 8 March 2026: at 2:00 EST clocks go to 3:00 EDT.
		{"NewYorkForward/AcrossTheSwitch", "2026-03-08T04:00:00Z", "resets 5am (America/New_York)", "2026-03-08T09:00:00Z"},
		{"NewYorkForward/NoSuchTime", "2026-03-08T04:00:00Z", "resets 2:30am (America/New_York)", "2026-03-08T07:30:00Z"},
		{"NewYorkForward/Tomorrow", "2026-03-07T20:00:00Z", "resets tomorrow at 9am (America/New_York)", "2026-03-08T13:00:00Z"},
		// New York, 1 November 2026: at 2:00 EDT clocks go to 1:00 EST.
		{"NewYorkBack/AcrossTheSwitch", "2026-11-01T04:30:00Z", "resets 5am (America/New_York)", "2026-11-01T10:00:00Z"},
		{"NewYorkBack/Twice", "2026-11-01T04:30:00Z", "resets 1:30am (America/New_York)", "2026-11-01T05:30:00Z"},
		{"NewYorkBack/TheSecondTime", "2026-11-01T05:45:00Z", "resets 1:30am (America/New_York)", "2026-11-01T06:30:00Z"},
		{"NewYorkBack/NextWeek", "2026-10-31T20:00:00Z", "resets Nov 7, 3am (America/New_York)", "2026-11-07T08:00:00Z"},
		// Samoa skipped 30 December 2011 altogether.
		{"Apia/NoSuchDay", "2011-12-30T09:00:00Z", "resets 12pm (Pacific/Apia)", "2011-12-30T22:00:00Z"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := verdict.ParseHint(test.text, at(test.now).At)
			if want := at(test.want).At; !ok || !got.At.Equal(want) {
				t.Errorf("got %v, want %v", got.At.UTC(), want)
			}
		})
	}
}

// A zone comes from foreign text and is looked up in files.
func TestParseHint_ZonesAreNoPaths(t *testing.T) {
	for _, zone := range []string{"../../etc/passwd", "/etc/localtime", "Europe/../Europe/Berlin", "posixrules"} {
		if got, ok := verdict.ParseHint("resets 3pm ("+zone+")", now); ok {
			t.Errorf("%s: got %+v, want none", zone, got)
		}
	}
}

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	must.OK(t, err)
	return loc
}
