package signame_test

import (
	"testing"

	"github.com/belay-run/belay/internal/signame"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"KILL": "SIGKILL", "sigkill": "SIGKILL", "SIGKILL": "SIGKILL", "9": "SIGKILL",
		"1": "SIGHUP", "int": "SIGINT", "15": "SIGTERM", "31": "SIGSYS", "SigPipe": "SIGPIPE",
		"IOT": "SIGABRT", "SIGCLD": "SIGCHLD", "POLL": "SIGIO", "INFO": "SIGINFO",
	} {
		if got, err := signame.Parse(in); got != want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", "SIG", "0", "-9", "99", "killed", "SIGSIGKILL", " KILL"} {
		if got, err := signame.Parse(in); err == nil {
			t.Errorf("%q: got %q, want an error", in, got)
		}
	}
}

func TestNumber(t *testing.T) {
	for name, want := range map[string]int{
		"SIGHUP": 1, "SIGKILL": 9, "SIGTERM": 15, "SIGSYS": 31,
		"": 0, "SIG": 0, "KILL": 0, "SIGINFO": 0,
	} {
		if got := signame.Number(name); got != want {
			t.Errorf("%q: got %d, want %d", name, got, want)
		}
	}
}
