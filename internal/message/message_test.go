package message_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/message"
)

// What a caller of a program looks for is at the end of an error; what a person is to type is at the end of what is printed.
func TestWithoutLater(t *testing.T) {
	lift := "gate api is on hold. To lift it: belay gates reset api"
	for text, want := range map[string]string{
		message.Later("make exited 2"):         "make exited 2; retry later",
		message.Later("make 2; retry later"):   "make 2; retry later",
		message.Later(lift):                    lift,
		"the command said: belay; retry later": "the command said: belay; retry later",
	} {
		if got := message.WithoutLater(text, false); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := message.WithoutLater("make exited 2; retry later", true); got != "make exited 2" {
		t.Errorf("%q", got)
	}
}

func TestWhen_NamesTheDayUnlessItIsToday(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noon := time.Date(2000, 1, 1, 12, 0, 0, 0, time.Local)
		time.Sleep(time.Until(noon))
		if got := message.When(noon.Add(time.Hour)); got != noon.Add(time.Hour).Format("15:04:05 MST") {
			t.Errorf("in an hour: %q", got)
		}
		if got := message.When(noon.AddDate(0, 0, 3)); !strings.HasPrefix(got, "2000-01-04 12:00") {
			t.Errorf("in three days: %q", got)
		}
	})
}

// Belay's own exit code is beside the command's where they differ.
func TestExitCodes(t *testing.T) {
	for want, tt := range map[string]struct {
		belay   *int
		command int
	}{
		"no exit code":                            {nil, -1},
		"exit code 3":                             {nil, 3},
		"exit code 0":                             {new(0), 0},
		"exit code 75; the command has none":      {new(75), -1},
		"exit code 124; the command's own is 143": {new(124), 143},
		"exit code 1; the command's own is 0":     {new(1), 0},
	} {
		if got := message.ExitCodes(tt.belay, tt.command); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"run", "log", "ps", "max-retries", "reset", "stats"}
	for word, want := range map[string]string{"rnu": "run", "rn": "", "runn": "run", "RUN": "run", "max-retires": "max-retries", "max_retrys": "max-retries",
		"rest": "reset", "sttas": "stats", "ls": "", "sp": "", "dig": "", "retries": "", "nonsense": "", "": ""} {
		if got := message.Nearest(word, names); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
