package message_test

import (
	"testing"

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
